import { bigserial, index, isNotNull, jsonb, pgTable, text, uuid } from "../api/database/drizzle.ts";
import type { Action, ChangeData } from "./recordChange.ts";
import type { ActorKind } from "../api/base/author.ts";
import { timestampMs } from "../api/database/columns.ts";

/**
 * The columns that the audit log and the outbox of events share. A change is recorded in the changed database, in the
 * transaction that makes the change. `position` is the order of insertion, which may differ from the order of commits.
 * `biz_id` and `user_id` are the ids of the changed partner and user.
 */
export const changeColumns = () => ({
  id: uuid("id").notNull().defaultRandom(),
  position: bigserial("position", { mode: "number" }).primaryKey(),
  bizID: text("biz_id"),
  userID: text("user_id"),
  data: jsonb("data").$type<ChangeData>().notNull(),
  at: timestampMs("at").notNull(),
});

/**
 * The audit log, in every database. A trigger makes the table append-only.
 * - `actor_id`: the id of a person, a user or a server's refresh token.
 * - `actor_token`: the refresh token from which a server's or user's access token was made.
 * - `address`: the caller's IP address. It becomes null after its own retention period.
 */
export const auditEntries = pgTable(
  "audit_entries",
  {
    ...changeColumns(),
    action: text("action").$type<Action>().notNull(),
    actorKind: text("actor_kind").$type<ActorKind>().notNull(),
    actorID: text("actor_id"),
    actorName: text("actor_name"),
    actorToken: text("actor_token"),
    requestID: text("request_id"),
    address: text("address"),
  },
  (table) => [
    index("audit_entries_by_time").on(table.at, table.position),
    index("audit_entries_of_partner").on(table.bizID, table.at, table.position),
    index("audit_entries_with_address").on(table.at, table.position).where(isNotNull(table.address)),
    index("audit_entries_of_user").on(table.userID, table.at, table.position),
  ],
);
