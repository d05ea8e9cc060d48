import { type SQL, sql } from "drizzle-orm";
import type { LastUse } from "./lastUse.ts";

/** Why a token is refused. */
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
  // Names in SQL: drizzle leaves out the tables of columns in a query of one table, but here it is a subquery's.
  return sql<boolean>`exists (select 1 from suspensions where suspensions.biz_id = ${sql.identifier(table)}.biz_id)`;
}

/** Why a token with this state is refused. Otherwise it is noted as used. */
export function refusalOf(token: TokenState | undefined, uses: LastUse, now: number): Refusal | undefined {
  if (token === undefined) return "revoked";
  if (token.suspended) return "suspended";
  if (token.deactivated) return "deactivated";
  uses.note(token.tokenID, token.lastUsed, now);
  return undefined;
}
