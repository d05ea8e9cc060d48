import { isEarlier } from "../ethereum/blockAge.ts";
import type { Evidence } from "../evidence.ts";
import type { UserID } from "../identity/userID.ts";
import type { Published } from "./alarm.ts";

/** A period in which a user's root could be read, but its file was not. */
interface Outage {
  /** The times of the first and the last round in which the file was due, in ms since 1970. */
  since: number;
  last: number;
  /** The total time between these rounds in ms, without periods in which the app did not run. */
  observedMs: number;
  /** The number of these rounds. */
  attempts: number;
  /** The error code of the last request, or NO_TIME_LEFT if no round has had time to request the file. */
  code: string;
}

/**
 * The state of a user, which is stored as JSON. If the user has a root, the state also contains the evidence for this
 * root.
 */
export interface WatchedUserState extends Partial<Published> {
  /** The last round in which the user's root was requested, or the round in which the user was first listed. */
  turn?: number;
  /** The round since which the user's file waits to be the first that a round reads. */
  fileTurn?: number;
  /** The round since which the user's account file waits to be one of the first that a round requests. */
  accountTurn?: number;
  /** The last round in which the user was listed. For the app's user, the last round with a list of contacts. */
  listed?: number;
  /** The last time at which the user's root could be read, in ms since 1970. */
  readAt?: number;
  /** The last time at which the root's file could be read, in ms since 1970. */
  fileReadAt?: number;
  outage?: Outage;
  /** The root and evidence recorded before the chain returned a different answer. */
  earlier?: Published;
  /** The evidence for a later answer that the user has no root. */
  gone?: Evidence;
  /** The ids of the conditions with reported alarms. */
  reported?: string[];
  /** The slot whose root and key this state has, in a registry with accounts. */
  slot?: WatchedSlot;
}

/** A user to check, with the user's stored state. The check changes this state. */
export type UserToCheck = readonly [userID: UserID, user: WatchedUserState];

/** The slot of an account's newest known key. */
interface WatchedSlot {
  /** The user id under which the key is published. */
  id: UserID;
  number: number;
  /** The key that the account authorized, in base64. */
  authorized: string;
  /** The next slot, if it has a root although no known statement authorizes a key for it. */
  next?: { id: UserID; number: number; root: string; evidence: Evidence };
  /** The first time at which the authorized key was not published yet, in ms since 1970. */
  unpublishedSince?: number;
}

/** Maximum time between two attempts in ms. A longer time means that the app did not run. */
const MAX_GAP_MS = 900_000;

/**
 * Records the chain's answer at a finalized block. `root` is undefined if the user has no root. A false first answer
 * raises no alarm, because there is no earlier answer to compare it with (docs/threat-model.md).
 */
export function applyAnswer(user: WatchedUserState, root: string | undefined, evidence: Evidence, now: number): void {
  user.readAt = now;
  const before = publishedOf(user);
  if (root === undefined) {
    // A node that is behind answers from an earlier block. At that block, the user may not have had a root yet.
    if (before !== undefined && !isEarlier(evidence.block, before.evidence.block)) user.gone = evidence;
    return;
  }
  delete user.gone;
  if (before !== undefined && before.root !== root) {
    user.earlier = before;
    delete user.publicKey;
    delete user.fileReadAt;
    delete user.outage;
  }
  user.root = root;
  user.evidence = evidence;
}

/** Checks whether the user's key must be read, for the first time or again. */
export function isDue({ publicKey, fileReadAt }: WatchedUserState, now: number, recheckMs: number): boolean {
  return publicKey === undefined || isOld(fileReadAt, now, recheckMs);
}

/** Checks whether a time is missing, too long ago, or in the future because the clock was set back. */
export function isOld(time = NaN, now: number, maxAgeMs: number): boolean {
  const age = now - time;
  return !(age >= 0 && age < maxAgeMs);
}

/** Records the user's key in base64. The key is an empty text if the root's file has no valid record of the user. */
export function applyFile(user: WatchedUserState, publicKey: string, now: number): void {
  user.publicKey = publicKey;
  user.fileReadAt = now;
  delete user.outage;
}

/** Records that the file is due. If the file host fails or does not answer, the caller sets the outage's code. */
export function applyOutage(user: WatchedUserState, now: number): void {
  const { since = now, last = now, observedMs = 0, attempts = 0, code = "NO_TIME_LEFT" } = user.outage ?? {};
  const gap = Math.min(Math.abs(now - last), MAX_GAP_MS);
  user.outage = { since, last: now, observedMs: observedMs + gap, attempts: attempts + 1, code };
}

/** Returns the recorded root, key and evidence of a user, or undefined if there is no root. */
export function publishedOf({ root, publicKey, evidence }: WatchedUserState): Published | undefined {
  return evidence && { root: String(root), publicKey, evidence };
}
