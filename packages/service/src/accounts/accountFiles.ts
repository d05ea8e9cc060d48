import { maxVoidStatements, parseKeyStatement } from "keyroot/account";
import { type UserID, userIDToHex } from "keyroot/internal/identity";
import type { AccountFileStore } from "@keyroot/operator/publisher";
import type { Database } from "../api/database/database.ts";
import { VOID } from "../keys/tables.ts";
import { readAccount, type StoredStatement } from "./statements.ts";

/** The account files of a user (docs/accounts.md, "The service"). */
export interface AccountFiles {
  /** The statement whose key everyone sees on the chain, whatever block they read. */
  current: StoredStatement;
  /** `accounts/<id in hex>.txt`, the file of the current key. */
  file: string;
  /**
   * `accounts/<id in hex>.next.txt`, the file of the key that is being published. If no key is being published, it has
   * the same content as `file`.
   */
  nextFile: string;
}

/**
 * Makes a user's account files.
 * @returns undefined if the user has no key
 */
export function accountFilesOf(text: string, statements: readonly StoredStatement[]): AccountFiles | undefined {
  const keys = statements.filter(({ keyID, state }) => keyID !== VOID && isUsable(state));
  const current = keys.findLast(({ settled }) => settled !== null);
  if (current === undefined) return undefined;
  const next = keys.findLast(({ state }) => state !== "pending") ?? current;
  const fileOf = (key: StoredStatement) =>
    [text, key.statement, ...voidsAfter(key, statements).map(({ statement }) => statement)].join("\n");
  return { current, file: fileOf(current), nextFile: fileOf(next.number > current.number ? next : current) };
}

/** Returns the names and texts of a user's account files, in the order in which they must be stored. */
export function namedAccountFiles(userID: UserID, { file, nextFile }: AccountFiles): [name: string, text: string][] {
  const name = `accounts/${userIDToHex(userID)}`;
  return [...(nextFile === file ? [] : [[`${name}.next.txt`, nextFile] as [string, string]]), [`${name}.txt`, file]];
}

/** Stores a user's account files, if the user has a key. */
export async function storeAccountFiles(
  database: Database,
  userID: UserID,
  store: Pick<AccountFileStore, "putAccountFile">,
): Promise<void> {
  const account = await readAccount(database, userID);
  const files = account && accountFilesOf(account.text, account.statements);
  if (files === undefined) return;
  for (const [name, text] of namedAccountFiles(userID, files)) await store.putAccountFile(name, text);
}

/** Returns the void statements in an account file, whose numbers follow the key's without a gap. */
export function voidsAfter(
  { number, statement }: StoredStatement,
  statements: readonly StoredStatement[],
): StoredStatement[] {
  const max = maxVoidsAfter(statement);
  const voids = statements.filter(({ keyID, state }) => keyID === VOID && state === "published");
  const found: StoredStatement[] = [];
  for (let n = number + 1; found.length < max; n++) {
    const next = voids.find((one) => one.number === n);
    if (next === undefined) break;
    found.push(next);
  }
  return found;
}

/** Returns the number of void statements that can follow a key statement in an account file. */
export function maxVoidsAfter(statement: string): number {
  // A statement has as many signatures as the account's threshold.
  return maxVoidStatements({ threshold: parseKeyStatement(statement).signatures.length });
}

function isUsable(state: StoredStatement["state"]): boolean {
  return state === "pending" || state === "submitted" || state === "published";
}
