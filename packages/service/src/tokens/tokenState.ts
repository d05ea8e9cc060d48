import { type SQL, sql } from "drizzle-orm";
import { ServiceError } from "keyroot/errors";
import type { LastUse } from "./lastUse.ts";

/** The reason for refusing a token. */
export type Refusal = "revoked" | "suspended" | "deactivated";

/** The state of a token that is not revoked. */
export interface TokenState {
  tokenID: string;
  lastUsed: number | null;
  /** Whether the partner is suspended. */
  suspended: boolean;
  /** Whether the user is deactivated. */
  deactivated: boolean;
}

/** Whether the partner of a row is suspended, in the database of the query. */
export function isSuspended(table: "server_tokens" | "users"): SQL<boolean> {
  // Names in SQL, because drizzle leaves out the tables of columns in a query of one table, and this is a subquery.
  return sql<boolean>`exists (select 1 from suspensions where suspensions.biz_id = ${sql.identifier(table)}.biz_id)`;
}

/** The reason for refusing a token in this state. An accepted token is recorded as used. */
export function refusalOf(token: TokenState | undefined, uses: LastUse, now: number): Refusal | undefined {
  if (token === undefined) return "revoked";
  if (token.deactivated) return "deactivated";
  if (token.suspended) return "suspended";
  uses.note(token.tokenID, token.lastUsed, now);
  return undefined;
}

/** The error for a deactivated user. */
export function userDeactivated(): ServiceError {
  return new ServiceError(403, "USER_DEACTIVATED", "The user is deactivated: its tokens are refused.");
}
