import { REGIONS, type Region } from "keyroot/identity";
import { parseMerkleFile } from "keyroot/merkle";
import { DEFAULT_LIMITS, rpcCaller } from "keyroot/transport";
import { Registry } from "../../publisher/chain/registry.ts";
import type { MerkleFileStore } from "../../publisher/files/merkleFileStore.ts";
import { openStore } from "../../publisher/files/openStore.ts";
import { findStored } from "../../publisher/files/storeFile.ts";
import { publish } from "../../publisher/publish.ts";
import type { PublishEvent } from "../../publisher/publishEvents.ts";
import { endpointSender } from "../../publisher/signers/endpointSender.ts";
import { type SendTransaction, type Signer, signingSender } from "../../publisher/signers/signer.ts";
import type { CostLimits } from "../../publisher/transactions/costLimits.ts";
import { countMissingShares } from "../store/batches.ts";
import { type Author, SERVICE } from "../store/changes.ts";
import type { Databases } from "../store/database.ts";
import { PublicKeyStore } from "../store/publicKeys.ts";
import { DatabaseJournal } from "./databaseJournal.ts";
import { withLease } from "./lease.ts";
import { checkChain, checkStores, isPublishing, type PublishingStatus } from "./publishingStatus.ts";
import { type Reconciliation, reconcile } from "./reconcile.ts";

/** Where the service publishes keys. */
export interface ChainConfig {
  /** The JSON-RPC endpoint of the chain. */
  rpcUrl: string;
  /** Allows plain http to an endpoint on another machine. */
  allowHttp?: boolean | undefined;
  /** The registry's address: 0x and 40 hex digits. */
  contract: string;
  /** The chain's id (EIP-155). Transactions are signed for it; the endpoint must report the same. */
  chainId: number;
  /** What one round may cost in each region; "local" on development chains. */
  limits: CostLimits | "local";
  /** Blocks after which a root counts as published, its own included. */
  confirmations: number;
  /** Where each region's Merkle-tree files are stored: a folder, or `s3://<bucket>/<prefix>`. */
  files: Record<Region, string>;
}

/** A published batch of keys. */
export interface PublishedBatch {
  /** 64 lowercase hex digits. */
  root: string;
  /** The number of users who now have this root. */
  users: number;
  /** 0x and 64 hex digits. */
  transaction: string;
  block: number;
}

export interface KeyPublisherOptions {
  /** Whether a key waits for its partner's decision if another key was offered for the user. Default false. */
  holdOnConflict?: boolean;
  /** Returns milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
}

/** Blocks in which a reorganization may still remove a published root, so `KeyPublisher` checks it again. */
const REORGANIZATION_BLOCKS = 128;

/** Publishes the keys that users registered. */
export class KeyPublisher {
  readonly #databases: Databases;
  readonly #keys: PublicKeyStore;
  readonly #chain: ChainConfig;
  readonly #signer: Signer | undefined;
  readonly #now: () => number;

  /** @param signer signs for the registry's owner; undefined if the chain's endpoint does */
  constructor(
    databases: Databases,
    chain: ChainConfig,
    signer: Signer | undefined,
    { holdOnConflict = false, now = Date.now }: KeyPublisherOptions = {},
  ) {
    this.#databases = databases;
    this.#keys = new PublicKeyStore(databases, holdOnConflict);
    this.#chain = chain;
    this.#signer = signer;
    this.#now = now;
  }

  /**
   * Publishes all keys whose time to object is over, region by region. It takes them first: from then on, they can no longer be
   * withdrawn. An unfinished plan is finished first, under its own roots. The process may end at any time: the plan is in the
   * database, and the next call reads from the chain how far it got.
   * @param author whom the audit log names. Default the service itself
   * @throws ArgumentError PUBLISHER_RUNNING when another replica publishes; and as `publish`
   */
  publish(author: Author = SERVICE): Promise<PublishedBatch[]> {
    return withLease(this.#databases.home, async (fenced, lost) => {
      const registry = await this.#connect(lost);
      const { chainId, limits } = this.#chain;
      const send = await this.#senderFor(registry);
      const done: PublishedBatch[] = [];
      for (const region of REGIONS) {
        await this.#markReorganized(region, registry);
        await countMissingShares(this.#databases.regions[region]);
        const records = await this.#keys.takePublishable(region, this.#now());
        if (records.length === 0) continue;
        const store = await openStore(this.#chain.files[region]);
        const journal = await DatabaseJournal.open(this.#databases.home, fenced, region, async ({ batches }) => {
          for (const { root, userIDs } of batches) await this.#keys.markSubmitted(region, root, userIDs, this.#now());
        });
        const events: PublishEvent[] = [];
        const { published } = await publish(records, {
          registry,
          chainId,
          limits,
          store,
          send,
          journal,
          finality: { confirmations: this.#chain.confirmations },
          onEvent: (event) => events.push(event),
        });
        for (const batch of published) {
          const { root, userIDs, transactionHash, blockNumber } = batch;
          await this.#keys.markPublished(region, batch, this.#now(), author);
          done.push({ root, users: userIDs.length, transaction: transactionHash, block: blockNumber });
        }
        await this.#markPublishedElsewhere(region, registry, store, events, author);
      }
      return done;
    });
  }

  /** The number of registered keys that the next call of `publish` would publish, in all regions. */
  async countPublishable(): Promise<number> {
    let keys = 0;
    for (const region of REGIONS) keys += await this.#keys.countPublishable(region, this.#now());
    return keys;
  }

  /** The state of the chain, the stores and the publisher. */
  async status(): Promise<PublishingStatus> {
    const [chain, stores, publishable, running] = await Promise.all([
      checkChain(this.#chain),
      checkStores(this.#chain),
      this.countPublishable(),
      isPublishing(this.#databases.home),
    ]);
    return { chain, stores, publishable, running };
  }

  /**
   * Records every published key that the databases do not know, or know as another one, as after a restore from a backup.
   * @throws ArgumentError PUBLISHER_RUNNING when a replica publishes; and as `reconcile`
   */
  reconcile(): Promise<Reconciliation> {
    return withLease(this.#databases.home, async (_fenced, lost) => {
      const registry = await this.#connect(lost);
      const stores = {} as Record<Region, MerkleFileStore>;
      for (const region of REGIONS) stores[region] = await openStore(this.#chain.files[region]);
      const { confirmations } = this.#chain;
      return reconcile({
        ...{ databases: this.#databases, keys: this.#keys, now: this.#now },
        ...{ registry, stores, confirmations },
      });
    });
  }

  /** @param lost aborts all calls when the lease is lost */
  async #connect(lost: AbortSignal): Promise<Registry> {
    const { rpcUrl, contract, chainId, allowHttp } = this.#chain;
    const { rpcBytes: maxBytes, timeoutMs } = DEFAULT_LIMITS;
    const call = rpcCaller(rpcUrl, { maxBytes, timeoutMs, signal: lost, allowHttp });
    const registry = await Registry.connect(call, contract);
    await registry.chain.verifyChainId(chainId);
    return registry;
  }

  /** Records the roots of users whom another publisher published, earlier or in the meantime. They cannot change. */
  async #markPublishedElsewhere(
    region: Region,
    registry: Registry,
    store: MerkleFileStore,
    events: readonly PublishEvent[],
    author: Author,
  ): Promise<void> {
    const found = events.flatMap((event) => {
      if (event.event === "alreadyPublished") return event.users;
      return event.event === "published" ? event.superseded : [];
    });
    for (const [root, users] of Map.groupBy(found, (user) => user.root)) {
      const added = await registry.findAddedRoot(root);
      if (added === undefined) continue;
      const userIDs = users.map(({ userID }) => userID);
      const bytes = await findStored(root, store);
      if (bytes === undefined) {
        await this.#keys.markPublished(region, { root, userIDs, ...added }, this.#now(), author);
        continue;
      }
      // The published key may be another one, for example after a restore from a backup.
      const { records } = parseMerkleFile(bytes, root);
      const theirIDs = new Set(userIDs);
      const theirs = records.filter(({ userID }) => theirIDs.has(userID));
      await this.#keys.adoptPublished(region, { root, ...added }, theirs, this.#now(), author);
    }
  }

  /** Records the recently published roots that a reorganization removed from the chain. */
  async #markReorganized(region: Region, registry: Registry): Promise<void> {
    const { number } = await registry.chain.block("latest");
    const recent = await this.#keys.publishedSince(region, number - REORGANIZATION_BLOCKS);
    const roots = await registry.getMerkleTreeRoots(recent.map(({ userID }) => userID));
    const removed = new Set(recent.filter(({ root }, i) => roots[i] !== root).map(({ root }) => root));
    for (const root of removed) await this.#keys.markReorganized(region, root);
  }

  async #senderFor(registry: Registry): Promise<SendTransaction> {
    const { chainId } = this.#chain;
    if (this.#signer === undefined) return endpointSender(registry, chainId);
    const { chain, contract, owner } = registry;
    return signingSender(this.#signer, { chainId, contract, owner }, chain.call);
  }
}
