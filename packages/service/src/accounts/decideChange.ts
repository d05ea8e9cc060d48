import { and, eq } from "../api/database/drizzle.ts";
import { parseAccount, verifyKeyStatement, verifyObjection } from "keyroot/account";
import { type Action, recordChange } from "../auditLog/recordChange.ts";
import type { Author } from "../api/base/author.ts";
import { type Database, readClock } from "../api/database/database.ts";
import { isPending, keyStatements, publicKeys, VOID } from "../keys/tables.ts";
import type { User } from "../users/newUser.ts";
import { lockActiveUser } from "../users/users.ts";
import { changePending, changeSubmitted, changeUnknown, checkSent } from "./accountErrors.ts";
import { isStatement, lockAccount } from "./accountStore.ts";
import { isOpen, keyIDOfStatement, readAccount, type StoredStatement } from "./statements.ts";
import type { SubmitOptions } from "./submitStatement.ts";

type DecisionOptions = Pick<SubmitOptions, "databases" | "accounts" | "keyType">;

/** The statement about which somebody decides. */
type ChangeID = Pick<StoredStatement, "number" | "keyID">;

/**
 * Receives an objection signed by one of the account's recovery keys. The service then publishes the key only if the
 * partner approves the change. Repeating the call has no effect.
 * @throws ServiceError KEY_STATEMENT_INVALID, ACCOUNT_MISSING, CHANGE_UNKNOWN, CHANGE_SUBMITTED
 */
export async function objectWithKey(
  options: DecisionOptions,
  user: User,
  objection: string,
  author: Author,
): Promise<StoredStatement> {
  const { text } = await options.accounts.get(user);
  const { number, publicKey } = checkSent(() => verifyObjection(parseAccount(text), objection));
  const keyID = keyIDOfStatement(publicKey, options.keyType);
  return objectToChange(options, user, { number, keyID }, author, objection);
}

/**
 * Objects to a change that no publisher has taken.
 * @param objection the objection signed by a recovery key, or undefined if the partner objects. Only the partner can
 *   object to a change that it has approved
 * @throws ServiceError ACCOUNT_MISSING, CHANGE_UNKNOWN, CHANGE_SUBMITTED
 */
export function objectToChange(
  options: DecisionOptions,
  user: User,
  id: ChangeID,
  author: Author,
  objection?: string,
): Promise<StoredStatement> {
  return decide(options, user, id, "keyChange.objected", author, async (transaction, change) => {
    if (change.state === "objected") return false;
    if (change.number === 0 || !isOpen(change)) throw changeSubmitted();
    if (objection !== undefined && change.approved !== null) throw changeSubmitted();
    if (change.keyID !== VOID) {
      const isOfSlot = eq(publicKeys.userID, change.slotID);
      const removed = await transaction.delete(publicKeys).where(and(isOfSlot, isPending)).returning();
      if (removed.length === 0) throw changeSubmitted();
    }
    const objected = await readClock(transaction);
    const set = { objected, objection: objection ?? null, approved: null };
    await transaction.update(keyStatements).set(set).where(isStatement(user.userID, change));
    return true;
  });
}

/**
 * Approves a change on the partner's behalf. The partner must first make sure that the change comes from the owner. The
 * approval removes any earlier objection, and recovery keys can no longer object. The partner alone cannot change a
 * key, because every change must be signed by the account's recovery keys.
 * @throws ServiceError ACCOUNT_MISSING, CHANGE_UNKNOWN, CHANGE_SUBMITTED, CHANGE_PENDING, USER_DEACTIVATED
 */
export function approveChange(
  options: DecisionOptions,
  user: User,
  id: ChangeID,
  author: Author,
): Promise<StoredStatement> {
  return decide(options, user, id, "keyChange.approved", author, async (transaction, change, all, text) => {
    await lockActiveUser(transaction, user.userID);
    if (change.approved !== null) return false;
    if (change.number === 0 || (change.state !== "objected" && !isOpen(change))) throw changeSubmitted();
    const other = all.find((one) => isOpen(one) && one !== change);
    if (other !== undefined) throw changePending(other.number, other.state === "published");
    // Another key may have been published with this number after the objection.
    if (all.some((one) => one.number >= change.number && one.settled !== null)) throw changeSubmitted();
    const approved = await readClock(transaction);
    await transaction
      .update(keyStatements)
      .set({ objected: null, objection: null, approved, ...(change.keyID === VOID && { holdEndsAt: approved }) })
      .where(isStatement(user.userID, change));
    const { publicKey } = verifyKeyStatement(parseAccount(text), change.statement);
    if (change.state !== "objected" || publicKey === undefined) return true;
    const [row] = await transaction.select().from(keyStatements).where(isStatement(user.userID, change));
    const key = { userID: change.slotID, pubKey: publicKey, keyID: change.keyID, possession: row?.possession };
    const { userID: account, region, bizID } = user;
    await transaction
      .insert(publicKeys)
      .values({ ...key, account, number: change.number, region, bizID, registered: approved, holdEndsAt: approved });
    return true;
  });
}

/** @param change returns whether anything changed */
async function decide(
  { databases, accounts }: DecisionOptions,
  user: User,
  id: ChangeID,
  action: Action,
  author: Author,
  change: (
    transaction: Database,
    statement: StoredStatement,
    all: readonly StoredStatement[],
    text: string,
  ) => Promise<boolean>,
): Promise<StoredStatement> {
  const isID = ({ number, keyID }: StoredStatement) => number === id.number && keyID === id.keyID;
  await databases.regions[user.region].transaction(async (transaction) => {
    await lockAccount(transaction, user.userID);
    const { text, statements } = (await readAccount(transaction, user.userID)) ?? { text: "", statements: [] };
    const statement = statements.find(isID);
    if (statement === undefined) throw changeUnknown();
    if (!(await change(transaction, statement, statements, text))) return;
    const data = { number: id.number, key_id: id.keyID };
    const at = await readClock(transaction);
    await recordChange(transaction, author, { action, at, partner: user.bizID, user: user.userID, data });
  });
  const stored = (await accounts.get(user)).statements.find(isID);
  if (stored === undefined) throw changeUnknown();
  return stored;
}
