import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import type { KeyRecord } from "../../identity/keyRecord.ts";
import type { UserID } from "../../identity/userID.ts";
import type { Region } from "../../identity/region.ts";
import type { Databases } from "./database.ts";
import { batches, publicKeys } from "./tables.ts";
import { everyRegion } from "./users.ts";

/** How far a public key has come on its way to the chain. */
export type KeyState = "pending" | "submitted" | "published";

/** A registered public key. */
export interface RegisteredKey extends KeyRecord {
  state: KeyState;
  /** 64 hex digits; undefined while it is pending. */
  root?: string;
  /** The transaction that published it: 0x and 64 hex digits. */
  transaction?: string;
}

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

  /** The keys of a region that are in no batch yet. */
  async pending(region: Region): Promise<KeyRecord[]> {
    return this.#databases.regions[region]
      .select(RECORD)
      .from(publicKeys)
      .where(and(eq(publicKeys.region, region), isNull(publicKeys.root)));
  }

  /** The batches of a region that are not known to be on the chain. */
  async submitted(region: Region): Promise<KeyRecord[][]> {
    const rows = await this.#databases.regions[region]
      .select({ ...RECORD, root: batches.root })
      .from(publicKeys)
      .innerJoin(batches, eq(batches.root, publicKeys.root))
      .where(and(eq(publicKeys.region, region), isNull(batches.blockNumber)));
    const byRoot = Map.groupBy(rows, ({ root }) => root);
    return [...byRoot.values()].map((batch) => batch.map(({ userID, pubKey, keyID }) => ({ userID, pubKey, keyID })));
  }

  /** Notes that users' keys are the batch of this root. */
  async submit(region: Region, root: string, users: readonly UserID[], created: number): Promise<void> {
    await this.#databases.regions[region].transaction(async (transaction) => {
      await transaction.insert(batches).values({ root, created }).onConflictDoNothing();
      await transaction
        .update(publicKeys)
        .set({ root })
        .where(and(inArray(publicKeys.userID, [...users]), isNull(publicKeys.root)));
    });
  }

  /** Notes in which transaction and block a batch was published. */
  async published(region: Region, root: string, transactionHash: string, blockNumber: number): Promise<void> {
    await this.#databases.regions[region]
      .update(batches)
      .set({ transactionHash, blockNumber })
      .where(eq(batches.root, root));
  }

  /** Notes that users have a root that was not published from here: whatever was to become of their keys, it stands. */
  async foundOnChain(
    region: Region,
    root: string,
    users: readonly UserID[],
    blockNumber: number,
    now: number,
  ): Promise<void> {
    await this.#databases.regions[region].transaction(async (transaction) => {
      await transaction.insert(batches).values({ root, created: now, blockNumber }).onConflictDoNothing();
      await transaction
        .update(publicKeys)
        .set({ root })
        .where(inArray(publicKeys.userID, [...users]));
    });
  }
}
