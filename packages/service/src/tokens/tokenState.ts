import { type SQL, sql } from "../api/database/drizzle.ts";
import type { LastUse } from "./lastUse.ts";

export type Refusal = "revoked" | "suspended" | "deactivated";

/** The state of an unrevoked token. */
export interface TokenState {
  tokenID: string;
  lastUsed: number | null;
  suspended: boolean;
  deactivated: boolean;
}

/** Whether a row's partner is suspended, according to the database that contains the row. */
export function isSuspended(table: "server_tokens" | "users"): SQL<boolean> {
  // The subquery is SQL text, because drizzle omits table names in queries of one table.
  return sql<boolean>`exists (select 1 from suspensions where suspensions.biz_id = ${sql.identifier(table)}.biz_id)`;
}

/** Returns the reason for rejecting a token, if any. Records the use of an accepted token. */
export function refusalOf(token: TokenState | undefined, uses: LastUse, now: number): Refusal | undefined {
  if (token === undefined) return "revoked";
  if (token.deactivated) return "deactivated";
  if (token.suspended) return "suspended";
  uses.note(token.tokenID, token.lastUsed, now);
  return undefined;
}
