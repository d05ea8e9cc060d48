import { and, eq } from "../api/database/drizzle.ts";
import { parseAccount } from "keyroot/account";
import type { UserID } from "keyroot/internal/identity";
import { recordChange } from "../auditLog/recordChange.ts";
import type { Author } from "../api/base/author.ts";
import { ServiceError } from "../api/base/errors.ts";
import type { Database, Databases } from "../api/database/database.ts";
import type { RegistryID } from "../keys/possessionCheck.ts";
import type { PublicKeyStore } from "../keys/publicKeys.ts";
import { accounts, keyStatements } from "../keys/tables.ts";
import { findClaims, SLOT_OWNER } from "../users/claims.ts";
import type { User } from "../users/newUser.ts";
import { lockActiveUser } from "../users/users.ts";
import { checkSent } from "./accountErrors.ts";
import { accountFilesOf } from "./accountFiles.ts";
import { reserveSlots } from "./reserveSlots.ts";
import { readAccount, type StoredStatement } from "./statements.ts";

/** Stores and reads users' account texts and statements in the users' regions. */
export class AccountStore {
  readonly #databases: Databases;
  readonly #publicKeys: PublicKeyStore;
  readonly #registry: RegistryID;

  constructor(databases: Databases, publicKeys: PublicKeyStore, registry: RegistryID) {
    this.#databases = databases;
    this.#publicKeys = publicKeys;
    this.#registry = registry;
  }

  /**
   * Stores a user's account text. The text never changes, because its hash is the user's id. Repeating the call has no
   * effect.
   * @throws ServiceError ACCOUNT_INVALID, ACCOUNT_MISMATCH, USER_DEACTIVATED
   */
  async store(user: User, text: string, now: number, author: Author): Promise<void> {
    const account = checkSent(() => parseAccount(text));
    const { userID, region, bizID } = user;
    const { chainId, contract } = this.#registry;
    for (const [name, actual, expected] of [
      ["id", account.userID, userID],
      ["chain", account.chainId, chainId],
      ["contract", account.contract, contract.toLowerCase()],
    ] as const) {
      if (actual === expected) continue;
      const message = `The ${name} of the account is ${actual} instead of ${expected}. Make an account for this service's registry, and create the user with its id.`;
      throw new ServiceError(400, "ACCOUNT_MISMATCH", message);
    }
    await reserveSlots(this.#databases, account, { region, after: 0, now });
    await this.#databases.regions[region].transaction(async (transaction) => {
      await lockActiveUser(transaction, userID);
      const added = await transaction
        .insert(accounts)
        .values({ userID, text, stored: now })
        .onConflictDoNothing()
        .returning();
      if (added.length > 0)
        await recordChange(transaction, author, { action: "account.stored", at: now, partner: bizID, user: userID });
    });
  }

  /**
   * Reads a user's account.
   * @throws ServiceError ACCOUNT_MISSING
   */
  async get({ region, userID }: Pick<User, "region" | "userID">) {
    const found = await readAccount(this.#databases.regions[region], userID);
    if (found !== undefined) return found;
    const message = "The user's account text is not stored. Send it to /v1/authdUser/account/store first.";
    throw new ServiceError(404, "ACCOUNT_MISSING", message);
  }

  /**
   * Reads a user's current key with its account file.
   * @returns undefined if the user has no key
   */
  async getKey({ region, userID }: Pick<User, "region" | "userID">) {
    const found = await readAccount(this.#databases.regions[region], userID);
    const files = found && accountFilesOf(found.text, found.statements);
    if (files === undefined) return undefined;
    const { current, file } = files;
    const key = await this.#publicKeys.get(region, current.slotID);
    return key && { key, number: current.number, file };
  }

  /** Whether the id of a slot is reserved for its account, and not the id of a user. */
  async isReserved(slotID: UserID): Promise<boolean> {
    const [claim] = await findClaims(this.#databases.home, [slotID]);
    return claim?.bizID === SLOT_OWNER;
  }
}

/** Locks a user's account until the transaction ends, so that its changes run one after the other. */
export async function lockAccount(transaction: Database, userID: UserID): Promise<void> {
  await transaction.select().from(accounts).where(eq(accounts.userID, userID)).for("update");
}

/** The condition for a statement's row. */
export function isStatement(userID: UserID, { number, keyID }: Pick<StoredStatement, "number" | "keyID">) {
  return and(eq(keyStatements.userID, userID), eq(keyStatements.number, number), eq(keyStatements.keyID, keyID));
}
