import { asc, eq } from "../api/database/drizzle.ts";
import { base64ToBytes, bytesToBase64 } from "keyroot/internal/bytes";
import { type KeyType, keyIDOf, type UserID } from "keyroot/internal/identity";
import type { Database } from "../api/database/database.ts";
import { accounts, batches, keyStatements, publicKeys, VOID } from "../keys/tables.ts";

/** The states of key statements, which `operations.ts` explains. */
export const STATEMENT_STATES = ["pending", "submitted", "published", "objected", "taken", "withdrawn"] as const;

type StatementState = (typeof STATEMENT_STATES)[number];

/** A statement of an account that the service received. */
export interface StoredStatement {
  number: number;
  /** The id of the authorized key, or `VOID`. */
  keyID: string;
  slotID: UserID;
  /** The signed statement (docs/formats.md, "Key statement"). */
  statement: string;
  state: StatementState;
  submitted: number;
  /** The end of a pending statement's hold period. */
  holdEndsAt: number | null;
  objected: number | null;
  approved: number | null;
  /** When the statement became part of the account file. For the first key, when the statement was submitted. */
  settled: number | null;
  /** The time when the key was confirmed on the chain. */
  confirmed: number | null;
}

/** Returns the id of a statement's key, or `VOID`. @param publicKey base64, or undefined for a void statement */
export function keyIDOfStatement(publicKey: string | undefined, keyType: KeyType): string {
  return publicKey === undefined ? VOID : bytesToBase64(keyIDOf(base64ToBytes(publicKey), keyType));
}

/** Whether the service still waits for the statement's publication. An account has at most one open statement. */
export function isOpen({ state, settled }: StoredStatement): boolean {
  return settled === null && state !== "objected" && state !== "taken";
}

/** Returns the account text and all statements of a user, in the order of their numbers. */
export async function readAccount(
  database: Database,
  userID: UserID,
): Promise<{ text: string; statements: StoredStatement[] } | undefined> {
  const [account] = await database.select().from(accounts).where(eq(accounts.userID, userID));
  if (account === undefined) return undefined;
  const rows = await database
    .select({ row: keyStatements, key: publicKeys, block: batches.blockNumber, confirmed: batches.confirmed })
    .from(keyStatements)
    .leftJoin(publicKeys, eq(publicKeys.userID, keyStatements.slotID))
    .leftJoin(batches, eq(batches.root, publicKeys.root))
    .where(eq(keyStatements.userID, userID))
    .orderBy(asc(keyStatements.number), asc(keyStatements.submitted));
  const statements = rows.map(({ row, key: found, block, confirmed }): StoredStatement => {
    const key = found?.keyID === row.keyID ? found : null;
    const state = stateOf(row, key, block);
    const { number, keyID, slotID, statement, submitted, objected, approved, settled } = row;
    return {
      ...{ number, keyID, slotID, statement, submitted, objected, approved, settled, state },
      holdEndsAt: state === "pending" ? (key ?? row).holdEndsAt : null,
      confirmed: state === "published" ? confirmed : null,
    };
  });
  return { text: account.text, statements };
}

function stateOf(
  { keyID, objected, taken, settled }: typeof keyStatements.$inferSelect,
  key: typeof publicKeys.$inferSelect | null,
  block: number | null,
): StatementState {
  if (objected !== null) return "objected";
  if (taken !== null) return "taken";
  if (keyID === VOID) return settled === null ? "pending" : "published";
  if (key === null) return "withdrawn";
  if (key.root !== null && block !== null) return "published";
  return key.submitted === null ? "pending" : "submitted";
}
