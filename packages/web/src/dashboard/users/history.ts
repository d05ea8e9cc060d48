import type { AuditEntry } from "../shared/api.ts";
import type { ConflictingKey, UserKey } from "../shared/api.ts";

/** A change of a user, or the end of a key's hold period. */
export interface HistoryItem {
  /** Milliseconds since 1970. It may be in the future. */
  at: number;
  text: string;
  /** Whether the text is about the hold period. */
  isHold?: boolean;
  keyID?: string;
  /** Who made the change. Undefined if it happens without a request. */
  by?: string;
  /** The block that published the key, and its transaction. */
  block?: number;
  transaction?: string;
}

/** The texts for the actions that concern one user. `#` is the number of a changed key. */
const TEXTS: Readonly<Record<string, string>> = {
  "user.created": "User created",
  "user.deactivated": "User deactivated",
  "refreshToken.created": "Refresh token created",
  "refreshToken.revoked": "Refresh token revoked",
  "key.registered": "Key registered",
  "key.conflict": "Another key was offered and rejected",
  "key.withdrawn": "Key withdrawn",
  "key.discarded": "Key discarded",
  "key.approved": "Key approved",
  "key.published": "Key published",
  "account.stored": "Account stored",
  "keyChange.submitted": "Change # of the key submitted",
  "keyChange.objected": "Objection to change #",
  "keyChange.approved": "Change # approved",
  "keyChange.published": "Change # published",
  "keyChange.taken": "Change # failed, because another key has its slot",
};

/** The value of `key_id` in an entry about a void statement, which declares that a slot holds no key of the user. */
const VOID = "void";

/**
 * Returns what happened to a user, newest first.
 * @param entries the user's entries of the audit log, newest first
 * @param contexts the contexts of the user's refresh tokens, by their ids
 */
export function toHistory(
  entries: readonly AuditEntry[],
  { state, hold_ends_at }: Pick<UserKey, "state" | "hold_ends_at">,
  contexts: ReadonlyMap<string, string>,
): HistoryItem[] {
  const items = entries.map((entry) => toItem(entry, contexts));
  const holdEnd = hold_ends_at ?? (state === "published" ? holdEndOf(entries) : undefined);
  if (holdEnd === undefined) return items;
  const isOver = state !== "pending" || holdEnd <= Date.now();
  const end = { at: holdEnd, isHold: true, text: isOver ? "ended" : "ends" };
  const place = items.findIndex(({ at }) => at <= holdEnd);
  return items.toSpliced(place === -1 ? items.length : place, 0, end);
}

function toItem({ at, action, actor, data }: AuditEntry, contexts: ReadonlyMap<string, string>): HistoryItem {
  const { key_id, token_id, number, block, transaction } = data;
  const isVoid = key_id === VOID;
  const context = action.startsWith("refreshToken.") ? contexts.get(String(token_id)) : undefined;
  return {
    at,
    text: `${TEXTS[action]?.replace("#", String(number)) ?? action}${isVoid ? ": its slot is void" : ""}${context === undefined ? "" : `: ${context}`}`,
    ...(typeof key_id === "string" && !isVoid && { keyID: key_id }),
    ...(typeof block === "number" && { block }),
    ...(typeof transaction === "string" && { transaction }),
    ...(actor.kind !== "service" && { by: authorOf(actor, contexts) }),
  };
}

function authorOf({ kind, name, token_id }: AuditEntry["actor"], contexts: ReadonlyMap<string, string>): string {
  if (kind === "person") return name ?? "a person";
  if (kind === "partner") return "your server";
  if (kind === "operator") return "the operator";
  const context = contexts.get(token_id ?? "");
  return context === undefined ? "the user’s app" : `the user’s app, token “${context}”`;
}

/** The end of the hold period of the last registered key. */
function holdEndOf(entries: readonly AuditEntry[]): number | undefined {
  const registered = entries.find(({ action }) => action === "key.registered");
  const end = registered?.data["hold_ends_at"];
  return typeof end === "number" ? end : undefined;
}

/** A key that is offered for a user, with the app that offered it. */
export interface OfferedKey {
  keyID: string;
  /** The time of its registration or rejection. Undefined if the audit log no longer contains it. */
  at: number | undefined;
  by: string | undefined;
  state: "waiting" | "current" | "rejected" | "withdrawn";
}

/** Returns a user's own key and the conflicting keys, with their times and tokens from the history. */
export function offeredKeys(
  { key_id = "", state, conflicting_keys }: Pick<UserKey, "key_id" | "state" | "conflicting_keys">,
  history: readonly HistoryItem[],
): OfferedKey[] {
  const firstOf = (keyID: string) => history.findLast((item) => item.keyID === keyID);
  const own = firstOf(key_id);
  const toOffered = ({ key_id: keyID, at, withdrawn }: ConflictingKey): OfferedKey => ({
    ...{ keyID, at, by: firstOf(keyID)?.by, state: withdrawn ? "withdrawn" : "rejected" },
  });
  return [
    { keyID: key_id, at: own?.at, by: own?.by, state: state === "pending" ? "waiting" : "current" },
    ...conflicting_keys.map(toOffered),
  ];
}
