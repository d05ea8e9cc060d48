import { and, count, eq, gte, inArray, isNull, sql } from "drizzle-orm";
import type { KeyRecord } from "keyroot/identity";
import type { UserID } from "keyroot/identity";
import type { Region } from "keyroot/identity";
import type { Database, Databases } from "./database.ts";
import { batches, publicKeys } from "./tables.ts";
import { everyRegion } from "./users.ts";

/** How far a public key has come on its way to the chain. */
type KeyState = "pending" | "submitted" | "published";

/** A registered public key. */
export interface RegisteredKey extends KeyRecord {
  state: KeyState;
  /** 64 hex digits; undefined while it is pending. */
  root?: string;
  /** The transaction that published it: 0x and 64 hex digits. */
  transaction?: string;
}

/** A root on the chain, and users who have it. */
interface Addition {
  root: string;
  userIDs: readonly UserID[];
  transactionHash: string;
  blockNumber: number;
}

const USERS_A_STATEMENT = 1000;
const RECORD = { userID: publicKeys.userID, pubKey: publicKeys.pubKey, keyID: publicKeys.keyID };

/** Users' public keys and the batches that they are published in, each in the user's region. */
export class PublicKeyStore {
  readonly #databases: Databases;
  readonly #inRegion;

  constructor(databases: Databases) {
    this.#databases = databases;
    const userID = sql.placeholder("userID");
    this.#inRegion = everyRegion(databases, (database) => ({
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
   * Registers a user's only key. The same again changes nothing.
   * @returns false where the user has another one
   */
  async register(region: Region, record: KeyRecord, registered: number): Promise<boolean> {
    const { get, insert } = this.#inRegion[region];
    const [inserted] = await insert.execute({ ...record, region, registered });
    if (inserted !== undefined) return true;
    const [found] = await get.execute({ userID: record.userID });
    return found?.public_keys.pubKey === record.pubKey;
  }

  /** A user's key; undefined where none is registered. */
  async get(region: Region, userID: UserID): Promise<RegisteredKey | undefined> {
    const [found] = await this.#inRegion[region].get.execute({ userID });
    if (found === undefined) return undefined;
    const { pubKey, keyID, root } = found.public_keys;
    if (root === null) return { userID, pubKey, keyID, state: "pending" };
    const transaction = found.batches?.transactionHash ?? undefined;
    const state = typeof found.batches?.blockNumber === "number" ? "published" : "submitted";
    return { userID, pubKey, keyID, state, root, ...(transaction !== undefined && { transaction }) };
  }

  /** The keys of a region that are not known to be on the chain. */
  async unpublished(region: Region): Promise<KeyRecord[]> {
    return this.#databases.regions[region]
      .select(RECORD)
      .from(publicKeys)
      .leftJoin(batches, eq(batches.root, publicKeys.root))
      .where(and(eq(publicKeys.region, region), isNull(batches.blockNumber)));
  }

  /** How many those are. */
  async waiting(region: Region): Promise<number> {
    const [row] = await this.#databases.regions[region]
      .select({ waiting: count() })
      .from(publicKeys)
      .leftJoin(batches, eq(batches.root, publicKeys.root))
      .where(and(eq(publicKeys.region, region), isNull(batches.blockNumber)));
    return row?.waiting ?? 0;
  }

  /** Notes that users' keys are about to go out as the batch of this root. */
  async submitted(region: Region, root: string, userIDs: readonly UserID[], now: number): Promise<void> {
    await this.#databases.regions[region].transaction(async (transaction) => {
      await transaction.insert(batches).values({ root, created: now }).onConflictDoNothing();
      await this.#giveRoot(transaction, root, userIDs);
    });
  }

  /** Notes in which transaction and block a root was published, and that these users have it. */
  async published(
    region: Region,
    { root, userIDs, transactionHash, blockNumber }: Addition,
    now: number,
  ): Promise<void> {
    await this.#databases.regions[region].transaction(async (transaction) => {
      await transaction
        .insert(batches)
        .values({ root, created: now, transactionHash, blockNumber })
        .onConflictDoUpdate({ target: batches.root, set: { transactionHash, blockNumber } });
      await this.#giveRoot(transaction, root, userIDs);
    });
  }

  /** One user of each root that was published in a block or after it. */
  async publishedSince(region: Region, blockNumber: number): Promise<{ root: string; userID: UserID }[]> {
    return this.#databases.regions[region]
      .selectDistinctOn([batches.root], { root: batches.root, userID: publicKeys.userID })
      .from(batches)
      .innerJoin(publicKeys, eq(publicKeys.root, batches.root))
      .where(and(eq(publicKeys.region, region), gte(batches.blockNumber, blockNumber)));
  }

  /** Notes that a root is on the chain no more: its keys are submitted, and go out again. */
  async vanished(region: Region, root: string): Promise<void> {
    await this.#databases.regions[region]
      .update(batches)
      .set({ transactionHash: null, blockNumber: null })
      .where(eq(batches.root, root));
  }

  /** In pieces: a statement takes at most 65,535 parameters. */
  async #giveRoot(database: Database, root: string, userIDs: readonly UserID[]): Promise<void> {
    for (let i = 0; i < userIDs.length; i += USERS_A_STATEMENT) {
      await database
        .update(publicKeys)
        .set({ root })
        .where(inArray(publicKeys.userID, userIDs.slice(i, i + USERS_A_STATEMENT)));
    }
  }
}
