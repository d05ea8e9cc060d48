import { and, eq, isNull, ne, sql } from "../api/database/drizzle.ts";
import type { KeyRecord, Region, UserID } from "keyroot/internal/identity";
import type { Author } from "../api/base/author.ts";
import { type Database, type Databases, perRegion } from "../api/database/database.ts";
import type { Claim } from "../users/claims.ts";
import { lockActiveUser } from "../users/users.ts";
import { holdEndOf } from "./holdPeriod.ts";
import { recordKeyChange, wasRemoved } from "./keyEvents.ts";
import { batches, conflictingKeys, publicKeys } from "./tables.ts";

export interface Registration {
  registered: number;
  holdEndsAt: number;
  /** Whether the user proved possession of the private key. */
  possession: "proven" | "unproven";
}

export interface RegisteredKey extends KeyRecord, Pick<Registration, "possession"> {
  /**
   * The user can withdraw a pending key. A submitted key was taken by a publisher, and a published key is on the chain.
   */
  state: "pending" | "submitted" | "published";
  /** End of the hold period. Null while the partner must decide. */
  holdEndsAt: number | null;
  /** The Merkle root (64 hex digits). Undefined until the key is part of a batch. */
  root?: string;
  /** The hash of the transaction that published the root: 0x and 64 hex digits. */
  transaction?: string;
}

/** Stores users' public keys in the users' regions. */
export class PublicKeyStore {
  readonly #holdOnConflict: boolean;
  readonly #get;

  /** @param holdOnConflict whether a key waits for the partner's decision if another key was offered for the user */
  constructor(databases: Databases, holdOnConflict = false) {
    this.#holdOnConflict = holdOnConflict;
    const userID = sql.placeholder("userID");
    this.#get = perRegion(databases, (database) =>
      database
        .select()
        .from(publicKeys)
        .leftJoin(batches, eq(batches.root, publicKeys.root))
        .where(eq(publicKeys.userID, userID))
        .prepare("get_public_key"),
    );
  }

  /**
   * Adds a user's key, unless the user already has a key.
   * @param transaction a transaction in the user's region
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
    const { userID: ofUser, keyID: offered, decided } = conflictingKeys;
    const isOther = and(eq(ofUser, userID), ne(offered, keyID), isNull(decided));
    const [other] = await transaction.select().from(conflictingKeys).where(isOther).limit(1);
    const undecidedSince = other === undefined ? null : at;
    const afterWithdrawal = await wasRemoved(transaction, userID);
    const [added] = await transaction
      .insert(publicKeys)
      .values({ ...record, region, bizID, undecidedSince, ...registration })
      .onConflictDoNothing()
      .returning();
    if (added === undefined) return;
    const holdEndsAt = holdEndOf({ ...registration, undecidedSince }, this.#holdOnConflict);
    const data = { key_id: keyID, possession, hold_ends_at: holdEndsAt, after_withdrawal: afterWithdrawal };
    await recordKeyChange(transaction, author, { action: "key.registered", at, partner: bizID, user: userID, data });
  }

  /** @returns undefined if the user has not registered a key */
  async get(region: Region, userID: UserID): Promise<RegisteredKey | undefined> {
    const [found] = await this.#get[region].execute({ userID });
    if (found === undefined) return undefined;
    const { pubKey, keyID, possession, submitted, root } = found.public_keys;
    const holdEndsAt = holdEndOf(found.public_keys, this.#holdOnConflict);
    const key = { userID, pubKey, keyID, possession, holdEndsAt };
    if (root === null) return { ...key, state: submitted === null ? "pending" : "submitted" };
    const transaction = found.batches?.transactionHash ?? undefined;
    const state = typeof found.batches?.blockNumber === "number" ? "published" : "submitted";
    return { ...key, state, root, ...(transaction !== undefined && { transaction }) };
  }
}
