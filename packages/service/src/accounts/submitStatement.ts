import { type KeyStatement, parseAccount, slotIDOf, verifyKeyStatement } from "keyroot/account";
import { type KeyRecord, type KeyType, toKeyRecord } from "keyroot/internal/identity";
import { recordChange } from "../auditLog/recordChange.ts";
import type { Author } from "../api/base/author.ts";
import { ServiceError } from "../api/base/errors.ts";
import { type Database, type Databases, readClock } from "../api/database/database.ts";
import type { KeyRegistration } from "../keys/keyRegistration.ts";
import { type ChallengeResponse, possessionRefused } from "../keys/possessionCheck.ts";
import type { PublicKeyStore, Registration } from "../keys/publicKeys.ts";
import { keyStatements, publicKeys, VOID } from "../keys/tables.ts";
import type { User } from "../users/newUser.ts";
import { lockActiveUser } from "../users/users.ts";
import { changePending, checkSent, wrongNumber } from "./accountErrors.ts";
import { maxVoidsAfter, voidsAfter } from "./accountFiles.ts";
import { type AccountStore, lockAccount } from "./accountStore.ts";
import { reserveSlots } from "./reserveSlots.ts";
import { isOpen, keyIDOfStatement, readAccount, type StoredStatement } from "./statements.ts";

export interface SubmitOptions {
  databases: Databases;
  accounts: AccountStore;
  publicKeys: PublicKeyStore;
  registration: KeyRegistration;
  keyType: KeyType;
  holdPeriodMs: number;
  now: () => number;
}

/** A statement that a user's app sends. */
export interface SentStatement {
  statement: string;
  /** The response to a challenge for the statement's key. Undefined for void statements and hashes of documents. */
  answer: ChallengeResponse | undefined;
  /** The service's URL in the app. */
  service: string;
}

/**
 * Receives a signed statement. Number 0 registers the user's first key, and each higher number replaces the key with a
 * new one. After the hold period, the new key is published under the id of its slot. Repeating the call has no effect.
 * @throws ServiceError KEY_STATEMENT_INVALID, ACCOUNT_MISSING, STATEMENT_NUMBER, CHANGE_PENDING, CHANGE_OBJECTED,
 *   SLOT_TAKEN, POSSESSION_REQUIRED, POSSESSION_REFUSED, USER_DEACTIVATED; ArgumentError with the codes of
 *   `checkPublicKey`
 */
export async function submitStatement(
  options: SubmitOptions,
  user: User,
  { statement, answer, service }: SentStatement,
  author: Author,
): Promise<StoredStatement> {
  const { databases, accounts, registration, keyType } = options;
  const { text, statements } = await accounts.get(user);
  const account = parseAccount(text);
  const parsed = checkSent(() => verifyKeyStatement(account, statement));
  const { number, publicKey } = parsed;
  const keyID = keyIDOfStatement(publicKey, keyType);
  const same = findSame(statements, number, keyID);
  if (same !== undefined) return same;
  requireNext(statements, parsed);
  const slotID = slotIDOf(account, number);
  await reserveSlots(databases, account, { region: user.region, after: number, now: options.now() });
  if (number > 0 && publicKey !== undefined && !(await accounts.isReserved(slotID))) {
    const message = `Slot ${number} of the account is the id of a user whose key a publisher took before the account was stored. If the key is on the chain, sign void for this number. Otherwise, contact the operator of the service.`;
    throw new ServiceError(409, "SLOT_TAKEN", message);
  }
  const record =
    publicKey === undefined ? undefined : toKeyRecord({ userID: slotID, pubKey: publicKey, keyID }, keyType);
  const authorize =
    record === undefined
      ? () => Promise.resolve("proven" as const)
      : await registration.prove(user, { ...record, userID: user.userID }, answer, service);
  await databases.regions[user.region].transaction(async (transaction) => {
    await lockActiveUser(transaction, user.userID);
    await lockAccount(transaction, user.userID);
    const possession = await authorize(transaction);
    if (possession === undefined) return;
    const latest = (await readAccount(transaction, user.userID))?.statements ?? [];
    if (findSame(latest, number, keyID) !== undefined) return;
    requireNext(latest, parsed);
    await add(transaction, options, user, { ...parsed, keyID, slotID, statement, possession, record }, author);
  });
  const stored = (await accounts.get(user)).statements;
  const added = findSame(stored, number, keyID);
  if (added === undefined) throw possessionRefused();
  return added;
}

/** @throws ServiceError CHANGE_OBJECTED */
function findSame(statements: readonly StoredStatement[], number: number, keyID: string): StoredStatement | undefined {
  const same = statements.find((one) => one.number === number && one.keyID === keyID);
  if (same?.state === "objected") {
    const message =
      "There is an objection to this statement, so its key is not published. Sign the same number for another key, or let the partner approve the statement.";
    throw new ServiceError(409, "CHANGE_OBJECTED", message);
  }
  // The first key can be registered again after a withdrawal.
  return same?.state === "withdrawn" ? undefined : same;
}

/**
 * Checks that a statement is the account's next one. The previous slot then has a root on the chain, which the owner
 * must check before signing.
 * @throws ServiceError STATEMENT_NUMBER, CHANGE_PENDING
 */
function requireNext(statements: readonly StoredStatement[], { number, publicKey }: KeyStatement): void {
  const kind = publicKey === undefined ? "void" : "key";
  const open = statements.find(isOpen);
  if (open !== undefined) throw changePending(open.number, open.state === "published");
  const closed = statements.filter(
    ({ state, settled }) => state === "taken" || (settled !== null && state !== "withdrawn"),
  );
  const current = closed.findLast(({ keyID, state }) => keyID !== VOID && state !== "taken");
  if (current === undefined) {
    if (number !== 0) throw wrongNumber(number, 0, kind);
    return;
  }
  const last = Math.max(...closed.map((one) => one.number));
  const voids = voidsAfter(current, statements).length;
  // The account file has no room for another void statement, so the owner must sign a key.
  if (publicKey === undefined && voids === maxVoidsAfter(current.statement)) throw wrongNumber(number, last + 1, "key");
  const expected = publicKey === undefined ? current.number + voids + 1 : last + 1;
  if (number !== expected) throw wrongNumber(number, expected, kind);
  if (current.state === "published") return;
  const message = "The first key of the account is not on the chain yet. Wait until its state is published.";
  throw new ServiceError(409, "CHANGE_PENDING", message);
}

interface NewStatement extends KeyStatement, Pick<Registration, "possession"> {
  keyID: string;
  slotID: string;
  statement: string;
  record: KeyRecord | undefined;
}

async function add(
  transaction: Database,
  { publicKeys: keys, holdPeriodMs }: SubmitOptions,
  user: User,
  { number, keyID, slotID, statement, possession, record }: NewStatement,
  author: Author,
): Promise<void> {
  const { userID, region, bizID } = user;
  const registered = await readClock(transaction);
  const registration = { registered, holdEndsAt: registered + holdPeriodMs, possession };
  const isFirst = number === 0;
  const { holdEndsAt } = registration;
  const row = {
    ...{ statement, possession, submitted: registered, settled: isFirst ? registered : null },
    holdEndsAt: record === undefined ? holdEndsAt : null,
  };
  await transaction
    .insert(keyStatements)
    .values({ userID, number, keyID, slotID, ...row })
    // The first key's earlier statement, after a withdrawal.
    .onConflictDoUpdate({ target: [keyStatements.userID, keyStatements.number, keyStatements.keyID], set: row });
  if (isFirst && record !== undefined) {
    await keys.add(transaction, user, record, registration, author);
    return;
  }
  if (record !== undefined)
    await transaction.insert(publicKeys).values({ ...record, account: userID, number, region, bizID, ...registration });
  const data = { number, key_id: keyID, possession, hold_ends_at: holdEndsAt };
  const change = { action: "keyChange.submitted", at: registered, partner: bizID, user: userID, data } as const;
  await recordChange(transaction, author, change);
}
