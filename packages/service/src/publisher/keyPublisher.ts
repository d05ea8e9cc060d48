import { KeyrootError } from "keyroot/internal/errors";
import { curve41417, type KeyType, REGIONS, type Region, type UserID } from "keyroot/internal/identity";
import {
  keyDiffers,
  openStore,
  publish,
  type PublishedRoot,
  type PublishEvent,
  type Registry,
  type SendTransaction,
  type Signer,
} from "@keyroot/operator/publisher";
import { type Author, SERVICE } from "../api/base/author.ts";
import { type Databases, distinctRegions } from "../api/database/database.ts";
import { ServiceError } from "../api/base/errors.ts";
import { PublicationStore } from "../publishing/publications.ts";
import { type DatabaseJournal, openJournal } from "./databaseJournal.ts";
import type { ChainConfig } from "../config/publisherConfig.ts";
import { type Fenced, isPublisherRunning, withLease } from "../publishing/lease.ts";
import type { PublishedBatch } from "../publishing/publisherReport.ts";
import { countFailure, type Difference } from "../publishing/publisherState.ts";
import { PublishRequests, updateRequests } from "../publishing/publishRequests.ts";
import { AccountPublisher, settleChanges } from "./accountPublisher.ts";
import { ChainConnection, openStores } from "./chainConnection.ts";
import { codeOf, reportParts } from "./checkParts.ts";
import { releaseBlocked } from "./releaseBlocked.ts";
import { countPublishable, takePublishable } from "../publishing/takePublishable.ts";
import { type Recheck, recheck, type RecheckOptions, recheckRoot } from "./recheck.ts";
import { type Reconciliation, reconcile } from "./reconcile.ts";
import type { RootCheck } from "./rootCheck.ts";

export interface KeyPublisherOptions {
  /** The type of the registry's keys. Default: `curve41417`. */
  keyType?: KeyType | undefined;
  /** Whether users have accounts, whose files the publisher stores. Default: unset, for one key per user. */
  accounts?: "required" | undefined;
  /** Whether a key with a conflicting key waits for the partner's decision. Default: false. */
  holdOnConflict?: boolean;
  /** Seconds between two scheduled publications, for the report. Default: null, for no schedule. */
  every?: number | null;
  /** Returns the current time in milliseconds since 1970. Default: `Date.now`. */
  now?: () => number;
  /**
   * Receives each difference that a round finds, and the error of the failed check. KEY_DIFFERS means that another
   * publisher published a different key for a user. The published key then replaces the registered one.
   */
  onDifference?: (difference: Difference, error: unknown) => void;
  /** Receives the error of each region whose keys could not be published. */
  onRegionFailed?: (region: Region, error: unknown) => void;
}

/** Number of recent blocks from which a reorganization may remove roots. Roots in these blocks are checked again. */
const REORGANIZATION_BLOCKS = 128;
/** Time between two checks of a published root, in ms. */
const RECHECK_MS = 24 * 60 * 60 * 1000;
/**
 * Maximum duration of a `recheck` call in ms, because nothing can be published meanwhile. The next `recheck` call
 * continues.
 */
const RECHECK_LIMIT_MS = 10 * 60 * 1000;

/** Maximum attempts to publish a region's keys. If a partner is suspended during an attempt, a new attempt follows. */
const MAX_ATTEMPTS = 5;

interface Round {
  registry: Registry;
  check: RootCheck;
  send: SendTransaction;
  fenced: Fenced;
  author: Author;
}

/** Publishes the keys that users registered. */
export class KeyPublisher {
  readonly #databases: Databases;
  readonly #publications: PublicationStore;
  readonly #requests: PublishRequests;
  readonly #chain: ChainConfig;
  readonly #connection: ChainConnection;
  readonly #keyType: KeyType;
  readonly #now: () => number;
  readonly #options: KeyPublisherOptions;

  /** @param signer signs as the registry's owner. Undefined if the chain's endpoint signs */
  constructor(databases: Databases, chain: ChainConfig, signer: Signer | undefined, options: KeyPublisherOptions = {}) {
    const { keyType = curve41417, now = Date.now } = options;
    this.#databases = databases;
    this.#publications = new PublicationStore(databases);
    this.#requests = new PublishRequests(databases.home);
    this.#keyType = keyType;
    this.#chain = chain;
    this.#connection = new ChainConnection(chain, signer, keyType, now);
    this.#now = now;
    this.#options = options;
  }

  /**
   * Publishes all keys whose hold period has ended, region by region. If a region fails, the others are still
   * published. Then the error of the first failed region is thrown.
   *
   * Each region first finishes its unfinished plan with the plan's own roots. Keys in a plan can no longer be
   * withdrawn. The process may end at any time: the plan is in the database, and the next call reads its progress from
   * the chain.
   * @param author the actor in the audit log. Default: the service
   * @throws ArgumentError PUBLISHER_RUNNING if another replica is publishing, and the errors of the operator package's
   *   `publish` function
   */
  publish(author: Author = SERVICE): Promise<PublishedBatch[]> {
    return withLease(this.#databases.home, (fenced, lost) => this.#publish(author, fenced, lost));
  }

  /**
   * Takes the waiting requests to publish now, if there are any. If the process ends or loses the lease, the requests
   * stay open for the next publisher.
   * @throws ArgumentError PUBLISHER_RUNNING if another publisher is publishing
   */
  async publishRequested(): Promise<void> {
    if ((await this.#requests.listOpen()).length === 0) return;
    await withLease(this.#databases.home, async (fenced, lost) => {
      const open = await this.#requests.listOpen();
      const [first] = open;
      if (first === undefined) return;
      await fenced((transaction) => updateRequests(transaction, open, { started: this.#now() }));
      const outcome = await this.#publish(first.author, fenced, lost).then(
        (batches) => ({ batches, error: null }),
        (error: unknown) => ({ batches: [], error: codeOf(error), cause: error }),
      );
      const { batches, error } = outcome;
      await fenced((transaction) => updateRequests(transaction, open, { ended: this.#now(), batches, error }));
      if ("cause" in outcome) throw outcome.cause;
    });
  }

  async #publish(author: Author, fenced: Fenced, lost: AbortSignal): Promise<PublishedBatch[]> {
    try {
      return await this.#publishRegions(author, fenced, lost);
    } catch (error) {
      if (!isPublisherRunning(error)) await countFailure(this.#databases.home, codeOf(error)).catch(() => undefined);
      throw error;
    }
  }

  async #publishRegions(author: Author, fenced: Fenced, lost: AbortSignal): Promise<PublishedBatch[]> {
    const registry = await this.#connection.connect(lost);
    const check = await this.#connection.openCheck(registry, lost);
    const send = await this.#connection.senderFor(registry);
    const done: PublishedBatch[] = [];
    const errors: unknown[] = [];
    for (const region of REGIONS) {
      try {
        done.push(...(await this.#tryRegion(region, { registry, check, send, fenced, author })));
      } catch (error) {
        if (lost.aborted || isPublisherRunning(error)) throw error;
        this.#options.onRegionFailed?.(region, error);
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
    return done;
  }

  /** Publishes a region's keys, and repeats this for partners and users that are blocked meanwhile. */
  async #tryRegion(region: Region, round: Round): Promise<PublishedBatch[]> {
    await this.#recheckRecent(region, round.check);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#publishRegion(region, round);
      } catch (error) {
        const isBlocked = error instanceof KeyrootError && error.code === "PARTNER_SUSPENDED";
        if (!isBlocked || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  /**
   * @throws ServiceError PARTNER_SUSPENDED if a partner was suspended or a user was deactivated before the batch was
   * sent, and the errors of the operator package's `publish` function
   */
  async #publishRegion(region: Region, { registry, check, send, fenced, author }: Round): Promise<PublishedBatch[]> {
    const journal = await this.#openJournal(region, fenced);
    await releaseBlocked(this.#databases.regions[region], region, journal, registry);
    const records = await takePublishable(this.#databases, region, { holdOnConflict: this.#options.holdOnConflict });
    if (records.length === 0) return [];
    const { chainId, limits, confirmations, files } = this.#chain;
    const events: PublishEvent[] = [];
    const { published, differing } = await publish(records, {
      ...{ registry, chainId, limits, send, journal, keyType: this.#keyType },
      store: await openStore(files[region]),
      finality: { confirmations },
      onEvent: (event) => events.push(event),
    });
    for (const [root, users] of Map.groupBy(differing, (user) => user.root))
      this.#options.onDifference?.({ region, root, code: "KEY_DIFFERS" }, keyDiffers(users));
    const own = new Set(published.map(({ root }) => root));
    const final = await check.finalBlock(Math.max(0, ...published.map(({ blockNumber }) => blockNumber)));
    const confirmed = await this.#confirm(region, usersByRoot(published, events), check, final, author);
    return confirmed.filter(({ root }) => own.has(root));
  }

  /**
   * Counts the registered keys that the next call of `publish` would publish.
   * @param overdueSeconds counts only keys that have been publishable for at least this many seconds
   */
  countPublishable(overdueSeconds?: number): Promise<number> {
    return countPublishable(this.#databases, { holdOnConflict: this.#options.holdOnConflict }, overdueSeconds);
  }

  /**
   * Checks the chain and the stores, and saves the result for the service.
   * @returns the parts that fail, with their errors
   */
  report(): Promise<{ part: string; error: unknown }[]> {
    return reportParts(this.#databases.home, this.#chain, this.#options.every ?? null);
  }

  /**
   * Compares published roots with the chain and the roots' files. It skips roots that were compared within the last 24
   * hours. A call ends after 10 minutes so that keys can be published, and the next call continues with the remaining
   * roots.
   * @throws ArgumentError PUBLISHER_RUNNING if a replica is publishing, and the errors of the `recheck` function
   */
  recheck(): Promise<Recheck> {
    return withLease(this.#databases.home, async (_fenced, lost) => {
      const check = await this.#connection.openCheck(await this.#connection.connect(lost), lost);
      const before = this.#now() - RECHECK_MS;
      for (const region of distinctRegions(this.#databases)) await this.#publications.dropEmptyBatches(region, before);
      return recheck(this.#recheckOptions(check), before, this.#now() + RECHECK_LIMIT_MS);
    });
  }

  /**
   * Adds published keys and account statements that the databases do not have, and replaces keys that differ from the
   * published ones. Call it after a backup is restored.
   * @throws ArgumentError PUBLISHER_RUNNING if a replica publishes, and the errors of `reconcile`
   */
  reconcile(): Promise<Reconciliation> {
    return withLease(this.#databases.home, async (_fenced, lost) => {
      const registry = await this.#connection.connect(lost);
      const options = this.#recheckOptions(await this.#connection.openCheck(registry, lost));
      const stores = await openStores(this.#chain.files);
      return reconcile({ ...options, ...(this.#options.accounts && { accounts: { stores, keyType: this.#keyType } }) });
    });
  }

  /**
   * Updates the account files of users whose changed key is on the chain.
   * @returns the number of completed changes
   * @throws ArgumentError PUBLISHER_RUNNING if a replica publishes
   */
  async settleChanges(author: Author = SERVICE): Promise<number> {
    if (this.#options.accounts === undefined) return 0;
    return settleChanges(this.#databases.home, this.#connection, (region) => this.#accountsOf(region), author);
  }

  async #accountsOf(region: Region): Promise<AccountPublisher> {
    return new AccountPublisher(this.#databases, region, await openStore(this.#chain.files[region]), this.#now);
  }

  /**
   * Records the roots that this round published, and roots that other publishers gave to users. A key is recorded only
   * after the root's file is verified and the root is read at a final block. Roots that are not recorded are tried
   * again in the next round.
   */
  async #confirm(
    region: Region,
    usersOf: ReadonlyMap<string, readonly UserID[]>,
    check: RootCheck,
    final: number,
    author: Author,
  ): Promise<PublishedBatch[]> {
    const confirmed: PublishedBatch[] = [];
    for (const [root, userIDs] of usersOf) {
      try {
        const { added, blockHash, records } = await check.check(root, userIDs, final);
        if (added === undefined || blockHash === undefined) continue;
        const { transactionHash: transaction, blockNumber: block } = added;
        await this.#publications.adoptPublished(region, { root, blockHash, ...added }, records, this.#now(), author);
        confirmed.push({ root, users: records.length, transaction, block });
      } catch (error) {
        if (!(error instanceof KeyrootError) || error.code === "ABORTED") throw error;
        await this.#publications.noteCheck(region, root, error.code, this.#now());
        this.#options.onDifference?.({ region, root, code: error.code }, error);
      }
    }
    return confirmed;
  }

  async #openJournal(region: Region, fenced: Fenced): Promise<DatabaseJournal> {
    const journal: DatabaseJournal = await openJournal(this.#databases.home, fenced, region, {
      onPlan: async ({ batches }) => {
        for (const { root, userIDs } of batches)
          await this.#publications.markSubmitted(region, root, userIDs, this.#now());
      },
      onFirstAttempt: async (root) => {
        if (!(await this.#publications.hasBlocked(region, root))) {
          const batch = this.#options.accounts && (await journal.readPlan())?.batches.find((one) => one.root === root);
          if (batch) await (await this.#accountsOf(region)).storeBefore(batch.userIDs);
          return;
        }
        const message = `A partner or a user in the batch ${root} was suspended or deactivated. The next round publishes the batch without these users.`;
        throw new ServiceError(403, "PARTNER_SUSPENDED", message);
      },
    });
    return journal;
  }

  /** Checks the roots of recent blocks again, because a chain reorganization may have removed these roots. */
  async #recheckRecent(region: Region, check: RootCheck): Promise<void> {
    const final = await check.finalBlock();
    const recent = await this.#publications.publishedSince(region, final - REORGANIZATION_BLOCKS);
    const roots = await check.rootsOf(
      recent.map(({ userID }) => userID),
      final,
    );
    for (const { root } of recent.filter(({ root }, i) => roots[i] !== root))
      await recheckRoot(root, region, final, this.#recheckOptions(check), this.#now() - RECHECK_MS);
  }

  #recheckOptions(check: RootCheck): RecheckOptions {
    return { databases: this.#databases, publications: this.#publications, check, now: this.#now };
  }
}

/** Groups users by the roots that a round published or found on the chain. */
function usersByRoot(published: readonly PublishedRoot[], events: readonly PublishEvent[]): Map<string, UserID[]> {
  const users = new Map(published.map(({ root, userIDs }) => [root, [...userIDs]]));
  const others = events.flatMap((event) => {
    if (event.event === "alreadyPublished") return event.users;
    return event.event === "published" ? event.superseded : [];
  });
  for (const { root, userID } of others) users.set(root, [...(users.get(root) ?? []), userID]);
  return users;
}
