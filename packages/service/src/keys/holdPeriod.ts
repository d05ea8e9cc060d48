/**
 * When a pending key may be published: after its hold period, unless the partner must first decide about a conflicting
 * key.
 */
import { and, isNotNull, isNull, not, type SQL, sql } from "../api/database/drizzle.ts";
import { DATABASE_NOW } from "../api/database/columns.ts";
import { publicKeys } from "./tables.ts";

/** Conditions that keys must meet to be in a batch. */
export interface PublishableOptions {
  /** Whether a key with a conflicting key waits for the partner's decision. Default: false. */
  holdOnConflict?: boolean | undefined;
  /** The current time in milliseconds since 1970. Default: the database's clock, because replicas' clocks differ. */
  now?: number | undefined;
}

/**
 * The condition that a key's user is deactivated. It is written as SQL text, because drizzle omits table names in
 * queries of a single table.
 */
export const isOfDeactivated = sql`exists (select from users where users.user_id = coalesce(public_keys.account, public_keys.user_id) and users.deactivated is not null)`;

/**
 * The condition that a key must not be published, because its partner is suspended or its user is deactivated. Revoked
 * tokens do not block it, because a user may lose a device after registering the key.
 */
export const isBlocked = sql`(exists (select from suspensions where suspensions.biz_id = public_keys.biz_id) or ${isOfDeactivated})`;

/**
 * Returns the end of a key's hold period in milliseconds since 1970. Returns null while the key waits for the partner's
 * decision.
 * @param holdOnConflict whether a key that conflicts with another key waits for the partner's decision
 */
export function holdEndOf(
  { holdEndsAt, undecidedSince }: Pick<typeof publicKeys.$inferSelect, "holdEndsAt" | "undecidedSince">,
  holdOnConflict: boolean,
): number | null {
  return holdOnConflict && undecidedSince !== null ? null : holdEndsAt;
}

/** The condition that a key waits for the partner's decision. */
export function isUndecided(holdOnConflict: boolean): SQL {
  return holdOnConflict ? isNotNull(publicKeys.undecidedSince) : sql`false`;
}

/**
 * The condition for publishing a pending key. Its hold period must be over, the user must be active, the partner must
 * not be suspended, and no publisher may have taken the key.
 */
export function isPublishable(options: PublishableOptions): SQL | undefined {
  return and(
    isNull(publicKeys.submitted),
    not(isBlocked),
    sql`${publicKeys.holdEndsAt} <= ${timeOf(options)}`,
    options.holdOnConflict === true ? isNull(publicKeys.undecidedSince) : undefined,
  );
}

export function timeOf({ now }: PublishableOptions): SQL<number> {
  return now === undefined ? DATABASE_NOW : sql<number>`${now}::bigint`;
}
