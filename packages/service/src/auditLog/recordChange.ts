import type { Actor, Author, LoggedChange } from "../api/base/author.ts";
import { type SQL, sql } from "../api/database/drizzle.ts";
import type { Region, UserID } from "keyroot/internal/identity";
import type { Database } from "../api/database/database.ts";

/** Types of events that partners receive. */
export const EVENT_TYPES = [
  "key.registered",
  "key.pending",
  "key.withdrawn",
  "key.discarded",
  "key.published",
  "key.conflict",
  "keyChange.submitted",
  "keyChange.held",
  "keyChange.objected",
  "keyChange.approved",
  "keyChange.published",
  "keyChange.taken",
  "user.created",
  "refreshToken.created",
  "refreshToken.revoked",
  "partner.suspended",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/**
 * The actions in the audit log. `key.pending` and `keyChange.held` are not among them, because they exist only as
 * events. For the same changes, the audit log contains `key.registered` and `keyChange.submitted`.
 */
export const ACTIONS = [
  "partner.created",
  "partner.suspended",
  "partner.resumed",
  "partner.limited",
  "serverToken.created",
  "serverToken.revoked",
  "user.created",
  "user.deactivated",
  "user.erased",
  "refreshToken.created",
  "refreshToken.revoked",
  "key.registered",
  "key.conflict",
  "key.withdrawn",
  "key.discarded",
  "key.approved",
  "key.published",
  "account.stored",
  "keyChange.submitted",
  "keyChange.objected",
  "keyChange.approved",
  "keyChange.published",
  "keyChange.taken",
  "person.invited",
  "person.roleChanged",
  "person.removed",
  "passkey.added",
  "passkey.removed",
  "session.started",
  "session.ended",
  "webhook.created",
  "webhook.changed",
  "webhook.paused",
  "webhook.resumed",
  "webhook.secretRotated",
  "webhook.deleted",
] as const;
export type Action = (typeof ACTIONS)[number];

/** Additional values of a change, without secrets. The API uses the same names. */
export interface ChangeData {
  person_id?: string;
  token_id?: string;
  endpoint_id?: string;
  name?: string;
  role?: string;
  user_limit?: number | null;
  region?: Region;
  /** The number of a changed key in its account. */
  number?: number;
  key_id?: string;
  possession?: "proven" | "unproven";
  /** End of the hold period. Null while the partner must decide. */
  hold_ends_at?: number | null;
  after_withdrawal?: boolean;
  root?: string;
  transaction?: string;
  block?: number;
}

/** A change to stored data, with the ids of the changed objects. */
export interface Change extends LoggedChange {
  action: Action;
  at: number;
  user?: UserID;
  data?: ChangeData;
}

/** A row of the common table expression `change`. The statements in `RECORDING` read these rows. */
type ChangeRow = Record<string, unknown>;

const CHANGE_ROW = sql.raw(
  "action text, at bigint, biz_id text, user_id text, data jsonb, actor_kind text, actor_id text, actor_name text, " +
    "actor_token text, request_id text, address text, events text[]",
);

/** Two common table expressions that insert audit log entries and events for the rows of `change`. */
export const RECORDING = {
  entries: sql`insert into audit_entries
    (biz_id, user_id, data, at, action, actor_kind, actor_id, actor_name, actor_token, request_id, address)
    select biz_id, user_id, data, at, action, actor_kind, actor_id, actor_name, actor_token, request_id, address
    from change`,
  events: sql`insert into events (biz_id, user_id, data, at, type)
    select biz_id, user_id, data, at, type from change cross join lateral unnest(events) as type`,
};

/**
 * Records a change in the audit log and the outbox of events, in the transaction that makes the change. For a change of
 * an unpublished key, call `recordKeyChange`, which also adds it to the user's key history. To change many users at
 * once, use `RECORDING` instead.
 * @param transaction a transaction of the changed database: the user's region for a change of a user, otherwise home
 */
export function recordChange(transaction: Database, author: Author, change: Change): Promise<void> {
  return recordChanges(transaction, author, [change]);
}

/** Records several changes in one transaction. One statement inserts all entries and events. */
export async function recordChanges(transaction: Database, author: Author, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return;
  const rows = JSON.stringify(changes.map((change) => toRow(author, change)));
  await transaction.execute(sql`
    with change as (select * from ${changeRows(sql`${rows}`)}),
      entries as (${RECORDING.entries})
    ${RECORDING.events}`);
  for (const change of changes) author.onChange?.(change);
}

export function toRow({ actor, requestID, address }: Author, change: Change): ChangeRow {
  const { action, at, partner, user, person, token, data } = change;
  return {
    action,
    at,
    biz_id: partner,
    user_id: user,
    data: {
      ...(person !== undefined && { person_id: person }),
      ...(token !== undefined && { token_id: token }),
      ...data,
    },
    actor_kind: actor.kind,
    actor_id: idOf(actor),
    actor_name: actor.kind === "person" ? actor.name : undefined,
    actor_token: "token" in actor ? actor.token : undefined,
    request_id: requestID,
    address,
    events: eventTypesOf(change),
  };
}

/**
 * Converts the JSON text of an array to rows of `change`.
 * @param furtherColumns the definitions of additional columns
 */
export function changeRows(json: SQL, furtherColumns = ""): SQL {
  return sql`jsonb_to_recordset(${json}::text::jsonb) as item(${CHANGE_ROW}${sql.raw(furtherColumns)})`;
}

function idOf(actor: Actor): string | undefined {
  switch (actor.kind) {
    case "person":
      return actor.person;
    case "partner":
      return actor.token;
    case "user":
      return actor.user;
    default:
      return undefined;
  }
}

/**
 * Returns the types of the events that a change causes. A new key with a hold period also causes `key.pending`, because
 * the user can withdraw the key until the period ends. A changed key with a hold period also causes `keyChange.held`,
 * because others can object to the change until then.
 */
function eventTypesOf({ action, at, data = {} }: Change): EventType[] {
  const types = EVENT_TYPES.filter((type) => type === action);
  const { hold_ends_at } = data;
  const waits = hold_ends_at === null || (hold_ends_at !== undefined && hold_ends_at > at);
  if (!waits) return types;
  if (action === "keyChange.submitted") return [...types, "keyChange.held"];
  return action === "key.registered" ? [...types, "key.pending"] : types;
}
