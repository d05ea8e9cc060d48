import { and, count, eq, gte, inArray, isNotNull, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { KeyRecord, Region, UserID } from "keyroot/identity";
import { type Adopted, adoptPublished } from "./adoptPublished.ts";
import { countShares } from "./batches.ts";
import { type Author, type Change, recordChange, recordChanges } from "./changes.ts";
import { type Database, type Databases, perRegion } from "./database.ts";
import { lockActiveUser } from "./eraseUser.ts";
import { startOf } from "./keyObjections.ts";
import { batches, publicKeys, users } from "./tables.ts";
import type { Claim } from "./claims.ts";

/** The progress of a registered key: it can be withdrawn, a publisher has taken it, or it was found on the chain. */
type KeyState = "pending" | "submitted" | "published";

/** How a key was registered. */
export interface Registration {
  /** Milliseconds since 1970. */
  registered: number;
  /** Not published before this time, in milliseconds since 1970. */
  publishableAt: number;
  /** Whether the user proved to hold the private key. */
  possession: "proven" | "unproven";
}

/** A registered public key. */
export interface RegisteredKey extends KeyRecord, Pick<Registration, "possession"> {
  state: KeyState;
  /** The earliest time of publication, in milliseconds since 1970; null while the partner must decide. */
  publishableAt: number | null;
  /** 64 hex digits; undefined until the key is part of a batch. */
  root?: string;
  /** The transaction that published the root: 0x and 64 hex digits. */
  transaction?: string;
}

/** A root on the chain, and the users whose root it is. */
interface PublishedRoot {
  root: string;
  userIDs: readonly UserID[];
  transactionHash: string;
  blockNumber: number;
  /** What the transaction used and cost, and the number of users who got the root by it, of all partners. */
  gasUsed?: number | undefined;
  /** In wei per unit of gas. */
  gasPrice?: bigint | undefined;
  addedCount?: number | undefined;
}

const USERS_PER_STATEMENT = 1000;
const RECORD = { userID: publicKeys.userID, pubKey: publicKeys.pubKey, keyID: publicKeys.keyID };

/** A key that is in no batch, and that a publisher took. */
const isTaken = and(isNull(publicKeys.root), isNotNull(publicKeys.submitted));

/**
 * Whether a root is that of a batch that is not on the chain. Indexes find these batches and what has their roots, so the time
 * depends on their number only.
 */
export function isInOpenBatch(root: PgColumn): SQL {
  return sql`${root} = any(array(select root from batches where block_number is null))`;
}

/** Stores public keys and the batches in which they are published, in the user's region. */
export class PublicKeyStore {
  readonly #databases: Databases;
  readonly #holdOnConflict: boolean;
  readonly #inRegion;

  /** @param holdOnConflict whether a key waits for its partner's decision if another key was offered for the user */
  constructor(databases: Databases, holdOnConflict = false) {
    this.#databases = databases;
    this.#holdOnConflict = holdOnConflict;
    const userID = sql.placeholder("userID");
    this.#inRegion = perRegion(databases, (database) => ({
      get: database
        .select()
        .from(publicKeys)
        .leftJoin(batches, eq(batches.root, publicKeys.root))
        .where(eq(publicKeys.userID, userID))
        .prepare("get_public_key"),
    }));
  }

  /**
   * Adds a user's key, unless the user has one.
   * @param transaction of the user's region
   * @throws ServiceError USER_DEACTIVATED
   */
  async add(
    transaction: Database,
    { region, userID, bizID }: Claim,
    record: KeyRecord,
    registration: Registration,
    author: Author,
  ): Promise<void> {
    const { keyID } = record;
    const { registered: at, possession } = registration;
    await lockActiveUser(transaction, userID);
    const { disputed, afterWithdrawal } = await startOf(transaction, record, at);
    const [added] = await transaction
      .insert(publicKeys)
      .values({ ...record, region, disputed, ...registration })
      .onConflictDoNothing()
      .returning();
    if (added === undefined) return;
    const publishableAt = this.#holdOnConflict && disputed !== null ? null : registration.publishableAt;
    const data = { keyID, possession, publishableAt, after_withdrawal: afterWithdrawal };
    await recordChange(transaction, author, { action: "key.registered", at, partner: bizID, user: userID, data });
  }

  /** @returns undefined when the user has not registered a key */
  async get(region: Region, userID: UserID): Promise<RegisteredKey | undefined> {
    const [found] = await this.#inRegion[region].get.execute({ userID });
    if (found === undefined) return undefined;
    const { pubKey, keyID, possession, disputed, submitted, root } = found.public_keys;
    const publishableAt = this.#holdOnConflict && disputed !== null ? null : found.public_keys.publishableAt;
    const key = { userID, pubKey, keyID, possession, publishableAt };
    if (root === null) return { ...key, state: submitted === null ? "pending" : "submitted" };
    const transaction = found.batches?.transactionHash ?? undefined;
    const state = typeof found.batches?.blockNumber === "number" ? "published" : "submitted";
    return { ...key, state, root, ...(transaction !== undefined && { transaction }) };
  }

  /**
   * Takes the region's keys that may be published: they are submitted, and can no longer be withdrawn.
   * @param now milliseconds since 1970
   * @returns all submitted keys, those of earlier calls included
   */
  async takePublishable(region: Region, now: number): Promise<KeyRecord[]> {
    const database = this.#databases.regions[region];
    // A withdrawal deletes the row under the same condition: PostgreSQL lets one of both see it fulfilled.
    await database
      .update(publicKeys)
      .set({ submitted: now })
      .where(and(eq(publicKeys.region, region), isNull(publicKeys.root), this.#isPublishable(now)));
    return database
      .select(RECORD)
      .from(publicKeys)
      .where(and(eq(publicKeys.region, region), or(isTaken, isInOpenBatch(publicKeys.root))));
  }

  /** The number of keys that `takePublishable` would return. */
  async countPublishable(region: Region, now: number): Promise<number> {
    const [row] = await this.#databases.regions[region]
      .select({ keys: count() })
      .from(publicKeys)
      .where(
        // One condition about keys without a batch, so that one scan of an index finds them.
        and(
          eq(publicKeys.region, region),
          or(
            and(isNull(publicKeys.root), or(isNotNull(publicKeys.submitted), this.#isPublishable(now))),
            isInOpenBatch(publicKeys.root),
          ),
        ),
      );
    return row?.keys ?? 0;
  }

  /**
   * Records that keys are part of the batch with this root, before its transaction is sent.
   * @param now milliseconds since 1970
   */
  async markSubmitted(region: Region, root: string, userIDs: readonly UserID[], now: number): Promise<void> {
    await this.#databases.regions[region].transaction(async (transaction) => {
      await transaction.insert(batches).values({ root, created: now }).onConflictDoNothing();
      await this.#setRoot(transaction, root, userIDs);
    });
  }

  /**
   * Records the transaction and block that published a root, and the users who have it. Repeating the call has no effect.
   * @param now milliseconds since 1970
   */
  async markPublished(
    region: Region,
    { root, userIDs, transactionHash, blockNumber, gasUsed, gasPrice, addedCount }: PublishedRoot,
    now: number,
    author: Author,
  ): Promise<void> {
    const data = { root, transaction: transactionHash, block: blockNumber };
    const cost = gasUsed === undefined || gasPrice === undefined ? null : BigInt(gasUsed) * gasPrice;
    const found = { transactionHash, blockNumber, gasUsed: gasUsed ?? null, cost, addedCount: addedCount ?? null };
    await this.#databases.regions[region].transaction(async (transaction) => {
      const unpublished = await this.#findUnpublished(transaction, root, userIDs);
      await transaction
        .insert(batches)
        .values({ root, created: now, confirmed: now, ...found })
        .onConflictDoUpdate({
          target: batches.root,
          set: {
            ...{ transactionHash, blockNumber, confirmed: sql`coalesce(${batches.confirmed}, ${now})` },
            // Some callers do not know them.
            gasUsed: sql`coalesce(excluded.gas_used, ${batches.gasUsed})`,
            cost: sql`coalesce(excluded.cost, ${batches.cost})`,
            addedCount: sql`coalesce(excluded.added_count, ${batches.addedCount})`,
          },
        });
      await this.#setRoot(transaction, root, userIDs);
      const changes = unpublished.map(({ userID, bizID, keyID }): Change => {
        return { action: "key.published", at: now, partner: bizID, user: userID, data: { keyID, ...data } };
      });
      await recordChanges(transaction, author, changes);
    });
  }

  /**
   * Records published keys that the database does not know, or knows as others: see `adoptPublished`.
   * @param records all those of the root's file whose users have this root on the chain
   * @param now milliseconds since 1970
   */
  async adoptPublished(
    region: Region,
    published: Omit<PublishedRoot, "userIDs">,
    records: readonly KeyRecord[],
    now: number,
    author: Author,
  ): Promise<Adopted> {
    const adopted = await this.#databases.regions[region].transaction((transaction) =>
      adoptPublished(transaction, region, published.root, records, now),
    );
    const userIDs = Object.values(adopted).flat() as UserID[];
    if (userIDs.length > 0) await this.markPublished(region, { ...published, userIDs }, now, author);
    return adopted;
  }

  /** One user of each root that was published in block `blockNumber` or later. */
  async publishedSince(region: Region, blockNumber: number): Promise<{ root: string; userID: UserID }[]> {
    return this.#databases.regions[region]
      .selectDistinctOn([batches.root], { root: batches.root, userID: publicKeys.userID })
      .from(batches)
      .innerJoin(publicKeys, eq(publicKeys.root, batches.root))
      .where(and(eq(publicKeys.region, region), gte(batches.blockNumber, blockNumber)));
  }

  /** Records that a reorganization removed a root from the chain: its keys are submitted again, and sent again. */
  async markReorganized(region: Region, root: string): Promise<void> {
    await this.#databases.regions[region]
      .update(batches)
      .set({ transactionHash: null, blockNumber: null, confirmed: null, gasUsed: null, cost: null, addedCount: null })
      .where(eq(batches.root, root));
  }

  /** A pending key that no publisher took, and whose time to object is over. */
  #isPublishable(now: number) {
    const isUndisputed = this.#holdOnConflict ? isNull(publicKeys.disputed) : undefined;
    return and(isNull(publicKeys.submitted), lte(publicKeys.publishableAt, now), isUndisputed);
  }

  /** Those of the users whose keys are not known to be published under this root. Only the publisher changes that. */
  async #findUnpublished(database: Database, root: string, userIDs: readonly UserID[]) {
    const found: Pick<Claim & KeyRecord, "userID" | "bizID" | "keyID">[] = [];
    const isPublished = and(eq(publicKeys.root, root), isNotNull(batches.blockNumber));
    for (let i = 0; i < userIDs.length; i += USERS_PER_STATEMENT) {
      const rows = await database
        .select({ userID: publicKeys.userID, bizID: users.bizID, keyID: publicKeys.keyID })
        .from(publicKeys)
        .innerJoin(users, eq(users.userID, publicKeys.userID))
        .leftJoin(batches, eq(batches.root, publicKeys.root))
        .where(
          and(inArray(publicKeys.userID, userIDs.slice(i, i + USERS_PER_STATEMENT)), sql`(${isPublished}) is not true`),
        );
      found.push(...rows);
    }
    return found;
  }

  /** In several statements, because PostgreSQL accepts at most 65,535 parameters in one. */
  async #setRoot(database: Database, root: string, userIDs: readonly UserID[]): Promise<void> {
    const changed = new Set([root]);
    for (let i = 0; i < userIDs.length; i += USERS_PER_STATEMENT) {
      const some = inArray(publicKeys.userID, userIDs.slice(i, i + USERS_PER_STATEMENT));
      // Another publisher may have added these users before this batch's transaction did.
      const earlier = await database.selectDistinct({ root: publicKeys.root }).from(publicKeys).where(some);
      for (const row of earlier) if (row.root !== null) changed.add(row.root);
      await database.update(publicKeys).set({ root }).where(some);
    }
    await countShares(database, [...changed]);
  }
}
