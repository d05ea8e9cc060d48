import { isEarlier } from "../ethereum/blockAge.ts";
import type { Evidence } from "../evidence.ts";
import type { Published } from "./alarm.ts";

/** A period in which the file of a user's root could not be read, although the chain could. */
interface Outage {
  /** The first and the last attempt, in ms since 1970. */
  since: number;
  last: number;
  /** The sum of the times between attempts in ms, without times in which the app did not run. */
  observedMs: number;
  attempts: number;
  /** The code of the last error. */
  code: string;
}

/** The stored state of a user, as JSON. A user with a root has evidence for it. */
export interface WatchedUserState extends Partial<Published> {
  /** The last round in which the user's root was requested, or in which the user was listed first. */
  turn?: number;
  /** The last round in which the user was listed. */
  listed?: number;
  /** The time of the chain's last answer about this user, in ms since 1970. */
  readAt?: number;
  /** The time of the last successful read of the root's file, in ms since 1970. */
  fileReadAt?: number;
  outage?: Outage;
  /** The root and evidence recorded before the chain returned a different answer. */
  earlier?: Published;
  /** The evidence of a later answer without a root. */
  gone?: Evidence;
  /** The ids of the conditions whose alarms were reported. */
  reported?: string[];
}

/** A longer pause between two attempts means that the app did not run. */
const MAX_GAP_MS = 900_000;

/** Records the chain's answer at a finalized block. The root is undefined if the user has none. */
export function applyAnswer(user: WatchedUserState, root: string | undefined, evidence: Evidence, now: number): void {
  user.readAt = now;
  const before = publishedOf(user);
  if (root === undefined) {
    // A node that is behind answers at an earlier block, at which the user may have had no root.
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

/** Whether the user's key must be read, for the first time or again. */
export function isDue({ publicKey, fileReadAt = NaN }: WatchedUserState, now: number, recheckMs: number): boolean {
  const age = now - fileReadAt;
  return publicKey === undefined || !(age >= 0 && age < recheckMs);
}

/** Records the user's key from the file of the root: base64, or empty if the file has no valid record of the user. */
export function applyFile(user: WatchedUserState, publicKey: string, now: number): void {
  user.publicKey = publicKey;
  user.fileReadAt = now;
  delete user.outage;
}

/** Records a failed attempt to read the file of the root. */
export function applyOutage(user: WatchedUserState, code: string, now: number): void {
  const { since = now, last = now, observedMs = 0, attempts = 0 } = user.outage ?? {};
  const gap = Math.min(Math.abs(now - last), MAX_GAP_MS);
  user.outage = { since, last: now, observedMs: observedMs + gap, attempts: attempts + 1, code };
}

/** The root, file and evidence that are recorded for a user with a root. */
export function publishedOf({ root, publicKey, evidence }: WatchedUserState): Published | undefined {
  return evidence && { root: String(root), publicKey, evidence };
}
