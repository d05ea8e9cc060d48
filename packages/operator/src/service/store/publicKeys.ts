import { and, count, eq, gte, inArray, isNull, sql } from "drizzle-orm";
import type { KeyRecord, Region, UserID } from "keyroot/identity";
import { type Database, type Databases, perRegion } from "./database.ts";
import { batches, publicKeys } from "./tables.ts";

/** The progress of a registered key: not in a batch yet, in a batch, or found on the chain. */
type KeyState = "pending" | "submitted" | "published";

/** A registered public key. */
export interface RegisteredKey extends KeyRecord {
  state: KeyState;
  /** 64 hex digits; undefined while the key is pending. */
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
}

const USERS_PER_STATEMENT = 1000;
const RECORD = { userID: publicKeys.userID, pubKey: publicKeys.pubKey, keyID: publicKeys.keyID };

/** Stores public keys and the batches in which they are published, in the user's region. */
export class PublicKeyStore {
  readonly #databases: Databases;
  readonly #inRegion;

  constructor(databases: Databases) {
    this.#databases = databases;
    const userID = sql.placeholder("userID");
    this.#inRegion = perRegion(databases, (database) => ({
      get: database
        .select()
        .from(publicKeys)
        .leftJoin(batches, eq(batches.root, publicKeys.root))
        .where(eq(publicKeys.userID, userID))
        .prepare("get_public_key"),
      insert: database
        .insert(publicKeys)
        .values({
          userID,
          region: sql.placeholder("region"),
          pubKey: sql.placeholder("pubKey"),
          keyID: sql.placeholder("keyID"),
          registered: sql.placeholder("registered"),
        })
        .onConflictDoNothing()
        .returning()
        .prepare("insert_public_key"),
    }));
  }

  /**
   * Registers a user's only key. Repeating the call has no effect.
   * @param registered milliseconds since 1970
   * @returns false when the user has a different key
   */
  async register(region: Region, record: KeyRecord, registered: number): Promise<boolean> {
    const { get, insert } = this.#inRegion[region];
    const [inserted] = await insert.execute({ ...record, region, registered });
    if (inserted !== undefined) return true;
    const [found] = await get.execute({ userID: record.userID });
    return found?.public_keys.pubKey === record.pubKey;
  }

  /** @returns undefined when the user has not registered a key */
  async get(region: Region, userID: UserID): Promise<RegisteredKey | undefined> {
    const [found] = await this.#inRegion[region].get.execute({ userID });
    if (found === undefined) return undefined;
    const { pubKey, keyID, root } = found.public_keys;
    if (root === null) return { userID, pubKey, keyID, state: "pending" };
    const transaction = found.batches?.transactionHash ?? undefined;
    const state = typeof found.batches?.blockNumber === "number" ? "published" : "submitted";
    return { userID, pubKey, keyID, state, root, ...(transaction !== undefined && { transaction }) };
  }

  /** The region's keys that are pending or submitted. */
  async unpublished(region: Region): Promise<KeyRecord[]> {
    return this.#databases.regions[region]
      .select(RECORD)
      .from(publicKeys)
      .leftJoin(batches, eq(batches.root, publicKeys.root))
      .where(and(eq(publicKeys.region, region), isNull(batches.blockNumber)));
  }

  /** The number of keys that `unpublished` returns. */
  async countUnpublished(region: Region): Promise<number> {
    const [row] = await this.#databases.regions[region]
      .select({ unpublished: count() })
      .from(publicKeys)
      .leftJoin(batches, eq(batches.root, publicKeys.root))
      .where(and(eq(publicKeys.region, region), isNull(batches.blockNumber)));
    return row?.unpublished ?? 0;
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
   * Records the transaction and block that published a root, and the users who have it.
   * @param now milliseconds since 1970
   */
  async markPublished(
    region: Region,
    { root, userIDs, transactionHash, blockNumber }: PublishedRoot,
    now: number,
  ): Promise<void> {
    await this.#databases.regions[region].transaction(async (transaction) => {
      await transaction
        .insert(batches)
        .values({ root, created: now, transactionHash, blockNumber })
        .onConflictDoUpdate({ target: batches.root, set: { transactionHash, blockNumber } });
      await this.#setRoot(transaction, root, userIDs);
    });
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
      .set({ transactionHash: null, blockNumber: null })
      .where(eq(batches.root, root));
  }

  /** In several statements, because PostgreSQL accepts at most 65,535 parameters in one. */
  async #setRoot(database: Database, root: string, userIDs: readonly UserID[]): Promise<void> {
    for (let i = 0; i < userIDs.length; i += USERS_PER_STATEMENT) {
      await database
        .update(publicKeys)
        .set({ root })
        .where(inArray(publicKeys.userID, userIDs.slice(i, i + USERS_PER_STATEMENT)));
    }
  }
}
