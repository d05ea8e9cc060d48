import type { Region } from "keyroot/identity";
import { endpointSender } from "../../publisher/signers/endpointSender.ts";
import { openStore } from "../../publisher/files/openStore.ts";
import { publish, type PublishEvent } from "../../publisher/publish.ts";
import { Registry } from "../../publisher/chain/registry.ts";
import { type SendTransaction, type Signer, signingSender } from "../../publisher/signers/signer.ts";
import { REGIONS } from "keyroot/identity";
import { decodeChainId } from "keyroot/registry";
import { DEFAULT_LIMITS } from "keyroot/transport";
import { rpcCaller } from "keyroot/transport";
import type { ChainConfig } from "../config.ts";
import type { Databases } from "../store/database.ts";
import type { PublicKeyStore } from "../store/publicKeys.ts";
import { withLease } from "./lease.ts";
import { DatabaseJournal } from "./databaseJournal.ts";

/** A batch of keys that was published. */
export interface PublishedBatch {
  /** 64 hex digits in lower case. */
  root: string;
  /** How many users have this root now. */
  users: number;
  /** 0x and 64 hex digits. */
  transaction: string;
  block: number;
}

/** Blocks in which a published root may still vanish by a reorganisation, and is looked at again. */
const UNSETTLED_BLOCKS = 128;

/** Publishes what users registered, in the name of the registry's owner. */
export class KeyPublisher {
  readonly #databases: Databases;
  readonly #keys: PublicKeyStore;
  readonly #chain: ChainConfig;
  readonly #signer: Signer | undefined;
  readonly #now: () => number;

  constructor(
    { databases, publicKeys, now }: { databases: Databases; publicKeys: PublicKeyStore; now: () => number },
    chain: ChainConfig,
    signer: Signer | undefined,
  ) {
    this.#databases = databases;
    this.#keys = publicKeys;
    this.#now = now;
    this.#chain = chain;
    this.#signer = signer;
  }

  /**
   * Publishes what is pending, region by region: an unfinished plan first, under its own roots. It may end at any time: the
   * plan is in the database, and where things stand is read from the chain.
   * @throws ArgumentError PUBLISHER_RUNNING where another replica publishes; and as `publish`
   */
  publishPending(): Promise<PublishedBatch[]> {
    return withLease(this.#databases.home, async (fenced, lost) => {
      const { rpcUrl, contract } = this.#chain;
      const { rpcBytes: maxBytes, timeoutMs } = DEFAULT_LIMITS;
      const call = rpcCaller(rpcUrl, { maxBytes, timeoutMs, signal: lost });
      const registry = await Registry.connect(call, contract);
      const send = await this.#senderFor(registry);
      const done: PublishedBatch[] = [];
      for (const region of REGIONS) {
        await this.#lookAgain(region, registry);
        const records = await this.#keys.unpublished(region);
        if (records.length === 0) continue;
        const store = await openStore(this.#chain.files[region]);
        const journal = await DatabaseJournal.open(this.#databases.home, fenced, region, async ({ batches }) => {
          for (const { root, userIDs } of batches) await this.#keys.submitted(region, root, userIDs, this.#now());
        });
        const events: PublishEvent[] = [];
        const { published } = await publish(records, {
          registry,
          store,
          send,
          journal,
          finality: { confirmations: this.#chain.confirmations },
          onEvent: (event) => events.push(event),
        });
        for (const { root, userIDs, transactionHash, blockNumber } of published) {
          await this.#keys.published(region, { root, userIDs, transactionHash, blockNumber }, this.#now());
          done.push({ root, users: userIDs.length, transaction: transactionHash, block: blockNumber });
        }
        await this.#noteFound(region, registry, events);
      }
      return done;
    });
  }

  /** How many keys wait: those that were never sent, and those of a plan that is not finished. */
  async waiting(): Promise<number> {
    let waiting = 0;
    for (const region of REGIONS) waiting += await this.#keys.waiting(region);
    return waiting;
  }

  /** Users who got a root elsewhere, before or meanwhile: it stands. */
  async #noteFound(region: Region, registry: Registry, events: readonly PublishEvent[]): Promise<void> {
    const found = events.flatMap((event) => {
      if (event.event === "alreadyPublished") return event.users;
      return event.event === "published" ? event.superseded : [];
    });
    for (const [root, users] of Map.groupBy(found, (user) => user.root)) {
      const added = await registry.findAddedRoot(root);
      if (added === undefined) continue;
      const userIDs = users.map(({ userID }) => userID);
      await this.#keys.published(region, { root, userIDs, ...added }, this.#now());
    }
  }

  /** Takes back what is published no more, since its block has gone. */
  async #lookAgain(region: Region, registry: Registry): Promise<void> {
    const { number } = await registry.chain.block("latest");
    const recent = await this.#keys.publishedSince(region, number - UNSETTLED_BLOCKS);
    const roots = await registry.getMerkleTreeRoots(recent.map(({ userID }) => userID));
    const gone = new Set(recent.filter(({ root }, i) => roots[i] !== root).map(({ root }) => root));
    for (const root of gone) await this.#keys.vanished(region, root);
  }

  async #senderFor(registry: Registry): Promise<SendTransaction> {
    if (this.#signer === undefined) return endpointSender(registry);
    const { chain, contract, owner } = registry;
    const chainId = decodeChainId(await chain.call("eth_chainId", []));
    return signingSender(this.#signer, { chainId, contract, owner }, chain.call);
  }
}
