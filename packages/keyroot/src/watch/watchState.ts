import { sha256Hex } from "../bytes/sha256.ts";
import { hasOwn } from "../engine/language.ts";
import type { UserID } from "../identity/userID.ts";
import type { UserToCheck, WatchedUserState } from "./watchedUser.ts";

/** Maximum number of contacts' roots to read in a round. A longer list takes several rounds. */
const CONTACTS_PER_ROUND = 32;
/** Maximum number of users in the state. */
const MAX_USERS = 5000;

/** The state of a watch, which is stored as JSON. */
export interface WatchState {
  users: Record<UserID, WatchedUserState>;
  round: number;
  /** The time of the next round, in ms since 1970. */
  nextAt: number;
  /** The number of failed rounds since the last successful round. */
  failures: number;
}

/**
 * Returns the states of the listed users. The states of users who are no longer listed are kept while there is room. A
 * user who is listed again therefore returns to the same place in the queue.
 * @param ids the contacts. Undefined if the list is unknown, so that the last one stays.
 */
export function listUsers({ users, round }: WatchState, userID: UserID, ids?: readonly UserID[]) {
  const use = (id: UserID): UserToCheck => [id, (users[id] ??= { turn: round, fileTurn: round })];
  const own = use(userID);
  if (!ids) return { own, contacts: [], leftOut: 0 };
  const known = ids.filter((id) => hasOwn(users, id));
  const listed = [...known, ...ids.filter((id) => !hasOwn(users, id))].slice(0, MAX_USERS - 1);
  const contacts = listed.map(use);
  for (const [, user] of [own, ...contacts]) user.listed = round;
  const unlisted = Object.entries(users).filter(([, user]) => user.listed !== round);
  unlisted.sort(([, a], [, b]) => (b.listed ?? 0) - (a.listed ?? 0));
  for (const [id] of unlisted.slice(MAX_USERS - 1 - listed.length)) Reflect.deleteProperty(users, id);
  return { own, contacts, leftOut: ids.length - listed.length };
}

/** Returns the users in the order of a queue: first those who have waited for the most rounds. */
export function sortByTurn(users: readonly UserToCheck[], queue: "turn" | "fileTurn" | "accountTurn"): UserToCheck[] {
  return [...users].sort(([, a], [, b]) => (a[queue] ?? 0) - (b[queue] ?? 0));
}

/**
 * Chooses the contacts to read in this round. The contacts that were read the longest time ago come first. A new
 * contact counts as read in the round in which it was first listed, so it never delays the others.
 */
export function chooseContacts(round: number, due: readonly UserToCheck[]): readonly UserToCheck[] {
  const chosen = sortByTurn(due, "turn").slice(0, CONTACTS_PER_ROUND);
  for (const [, user] of chosen) user.turn = round;
  return chosen;
}

/** Writes a state as text, with a hash that detects damage. */
export function serializeState(state: WatchState): string {
  const text = JSON.stringify(state);
  return sha256Hex(text) + text;
}

/** Reads a stored state. If the state is missing or damaged, the watch checks all keys again. */
export function parseState(text = ""): WatchState {
  try {
    const json = text.slice(64);
    // An empty text causes a SyntaxError.
    const parsed: unknown = JSON.parse(sha256Hex(json) === text.slice(0, 64) ? json : "");
    const { round = 0, ...state } = parsed as Omit<WatchState, "round"> & Partial<WatchState>;
    Object.keys(state.users);
    return { ...state, round: round + 1 };
  } catch {
    return { users: {}, round: 1, nextAt: 0, failures: 0 };
  }
}
