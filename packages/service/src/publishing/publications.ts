import { and, count, eq, gte, isNotNull, isNull, lt, or, sql } from "../api/database/drizzle.ts";
import type { KeyRecord, Region, UserID } from "keyroot/internal/identity";
import type { AddedRootEvent } from "@keyroot/operator/publisher";
import { type Change, recordChanges } from "../auditLog/recordChange.ts";
import type { Author } from "../api/base/author.ts";
import { isAnyOf } from "../api/database/columns.ts";
import type { Database, Databases } from "../api/database/database.ts";
import { batches, publicKeys } from "../keys/tables.ts";
import { type Adopted, adoptPublished } from "./adoptPublished.ts";
import { countShares } from "./batches.ts";
import { isBlocked } from "../keys/holdPeriod.ts";

/** The transaction and the block that added a root. `addedCount` includes other partners' users. */
export type AddedRoot = Pick<AddedRootEvent, "transactionHash" | "blockNumber"> & Partial<AddedRootEvent>;

interface PublishedRoot extends AddedRoot {
  root: string;
  userIDs: readonly UserID[];
  blockHash: string;
}

const UNPUBLISHED = {
  ...{ transactionHash: null, blockNumber: null, blockHash: null, confirmed: null },
  ...{ gasUsed: null, cost: null, addedCount: null },
} as const;
/** Records the publication of keys in the users' regions. */
export class PublicationStore {
  readonly #databases: Databases;

  constructor(databases: Databases) {
    this.#databases = databases;
  }

  /** Records that keys are part of the batch with this root. Call it before the batch's transaction is sent. */
  async markSubmitted(region: Region, root: string, userIDs: readonly UserID[], now: number): Promise<void> {
    await this.#databases.regions[region].transaction(async (transaction) => {
      await transaction.insert(batches).values({ root, created: now }).onConflictDoNothing();
      await this.#setRoot(transaction, root, userIDs);
    });
  }

  /**
   * Records the transaction and the block that published a root, and the users with the root. Repeating the call has no
   * effect.
   */
  async markPublished(
    region: Region,
    { root, userIDs, transactionHash, blockNumber, blockHash, gasUsed, gasPrice, dataFee, addedCount }: PublishedRoot,
    now: number,
    author: Author,
  ): Promise<void> {
    const data = { root, transaction: transactionHash, block: blockNumber };
    const cost = gasUsed === undefined || gasPrice === undefined ? null : BigInt(gasUsed) * gasPrice + (dataFee ?? 0n);
    const block = { transactionHash, blockNumber, blockHash, checked: now, difference: null };
    const found = { ...block, gasUsed: gasUsed ?? null, cost, addedCount: addedCount ?? null };
    await this.#databases.regions[region].transaction(async (transaction) => {
      const unpublished = await this.#findUnpublished(transaction, root, userIDs);
      await transaction
        .insert(batches)
        .values({ root, created: now, confirmed: now, ...found })
        .onConflictDoUpdate({
          target: batches.root,
          set: {
            ...{ ...block, confirmed: sql`coalesce(${batches.confirmed}, ${now})` },
            // Keep a stored value if the caller has no new value.
            gasUsed: sql`coalesce(excluded.gas_used, ${batches.gasUsed})`,
            cost: sql`coalesce(excluded.cost, ${batches.cost})`,
            addedCount: sql`coalesce(excluded.added_count, ${batches.addedCount})`,
          },
        });
      await this.#setRoot(transaction, root, userIDs);
      const changes = unpublished.map(({ userID, account, number, bizID, keyID }): Change => {
        const changed = { key_id: keyID, ...data };
        if (account === null) return { action: "key.published", at: now, partner: bizID, user: userID, data: changed };
        return {
          ...{ action: "keyChange.published", at: now, partner: bizID, user: account },
          data: { number, ...changed },
        };
      });
      await recordChanges(transaction, author, changes);
    });
  }

  /**
   * Records published keys that are missing from the database or differ from its keys.
   * @param records all records of the root's file whose users have this root on the chain
   */
  async adoptPublished(
    region: Region,
    published: Omit<PublishedRoot, "userIDs">,
    records: readonly KeyRecord[],
    now: number,
    author: Author,
  ): Promise<Adopted> {
    const adopted = await this.#databases.regions[region].transaction((transaction) =>
      adoptPublished(transaction, region, published.root, records, now, author),
    );
    const { unchanged, recorded, replaced, added } = adopted;
    const userIDs = [...recorded, ...replaced, ...added];
    if (userIDs.length + unchanged.length > 0) await this.markPublished(region, { ...published, userIDs }, now, author);
    return adopted;
  }

  /** Lists the roots that were published in block `blockNumber` or later, each with one user. */
  async publishedSince(region: Region, blockNumber: number): Promise<{ root: string; userID: UserID }[]> {
    return this.#databases.regions[region]
      .selectDistinctOn([batches.root], { root: batches.root, userID: publicKeys.userID })
      .from(batches)
      .innerJoin(publicKeys, eq(publicKeys.root, batches.root))
      .where(and(eq(publicKeys.region, region), gte(batches.blockNumber, blockNumber)));
  }

  /** Lists the users that the database records in a batch. */
  async usersOf(region: Region, root: string): Promise<UserID[]> {
    const { userID } = publicKeys;
    const found = this.#databases.regions[region].select({ userID }).from(publicKeys).where(eq(publicKeys.root, root));
    return (await found).map((row) => row.userID);
  }

  /** Whether a batch contains a key that must not be published. */
  async hasBlocked(region: Region, root: string): Promise<boolean> {
    const found = this.#databases.regions[region]
      .select({ userID: publicKeys.userID })
      .from(publicKeys)
      .where(and(eq(publicKeys.root, root), isBlocked))
      .limit(1);
    return (await found).length > 0;
  }

  /** Lists published roots that were last checked before a time, oldest check first. */
  async listToCheck(region: Region, before: number, limit: number): Promise<string[]> {
    const isDue = or(isNull(batches.checked), lt(batches.checked, before));
    const found = await this.#databases.regions[region]
      .select({ root: batches.root })
      .from(batches)
      .where(and(isNotNull(batches.blockNumber), isDue))
      .orderBy(sql`${batches.checked} nulls first`)
      .limit(limit);
    return found.map(({ root }) => root);
  }

  /** Records that users do not have this root on the chain. The publisher then submits the users' keys again. */
  async markLost(region: Region, root: string, userIDs: readonly UserID[], now: number): Promise<void> {
    const difference = { checked: now, difference: "NOT_PUBLISHED" };
    const ofBatch = eq(publicKeys.root, root);
    await this.#databases.regions[region].transaction(async (transaction) => {
      const [batch] = await transaction.select({ users: count() }).from(publicKeys).where(ofBatch);
      const isWhole = batch?.users === userIDs.length;
      if (!isWhole) {
        const submitted = sql`coalesce(${publicKeys.submitted}, ${now})`;
        const which = and(isAnyOf(publicKeys.userID, userIDs), ofBatch);
        await transaction.update(publicKeys).set({ root: null, submitted }).where(which);
        await countShares(transaction, [root]);
      }
      const changes = isWhole ? { ...UNPUBLISHED, ...difference } : difference;
      await transaction.update(batches).set(changes).where(eq(batches.root, root));
    });
  }

  /** Records a root's check, without changing keys. @param difference the check's error code. Null after success */
  async noteCheck(region: Region, root: string, difference: string | null, now: number): Promise<void> {
    await this.#databases.regions[region]
      .insert(batches)
      .values({ root, created: now, checked: now, difference })
      .onConflictDoUpdate({ target: batches.root, set: { checked: now, difference } });
  }

  /** Deletes batches with a difference but without users, whose keys were published under other roots. */
  async dropEmptyBatches(region: Region, before: number): Promise<void> {
    const isEmpty = sql`not exists (select from public_keys where public_keys.root = batches.root)`;
    await this.#databases.regions[region]
      .delete(batches)
      .where(and(isNotNull(batches.difference), isNull(batches.blockNumber), lt(batches.checked, before), isEmpty));
  }

  /** Finds the users without a recorded publication under a root. Only the publisher changes these records. */
  #findUnpublished(database: Database, root: string, userIDs: readonly UserID[]) {
    const isPublished = and(eq(publicKeys.root, root), isNotNull(batches.blockNumber));
    return database
      .select({
        ...{ userID: publicKeys.userID, account: publicKeys.account, number: publicKeys.number },
        ...{ bizID: publicKeys.bizID, keyID: publicKeys.keyID },
      })
      .from(publicKeys)
      .leftJoin(batches, eq(batches.root, publicKeys.root))
      .where(and(isAnyOf(publicKeys.userID, userIDs), sql`(${isPublished}) is not true`));
  }

  async #setRoot(database: Database, root: string, userIDs: readonly UserID[]): Promise<void> {
    const some = isAnyOf(publicKeys.userID, userIDs);
    // Another publisher may have published some of the users' keys before this batch. Therefore the users of these
    // earlier batches are counted again as well.
    const earlier = await database.selectDistinct({ root: publicKeys.root }).from(publicKeys).where(some);
    await database.update(publicKeys).set({ root }).where(some);
    await countShares(database, [...new Set([root, ...earlier.flatMap((row) => row.root ?? [])])]);
  }
}
