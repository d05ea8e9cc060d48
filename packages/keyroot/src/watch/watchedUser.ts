import type { Evidence } from "../evidence.ts";
import type { UserID } from "../identity/userID.ts";
import type { Condition, Published } from "./alarm.ts";

/** A time in which the file of a user's root could not be read, although the chain could. */
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

/** What the watch knows about a user. It is stored as JSON. A user with a root has evidence for it. */
export interface WatchedUserState extends Partial<Published> {
  /** When the chain answered last about this user, in ms since 1970. */
  readAt?: number;
  /** When the file of the root was read last, in ms since 1970. */
  fileReadAt?: number;
  outage?: Outage;
  /** What another answer of the chain replaced. */
  earlier?: Published;
  /** The evidence of an answer that there is no root any more. */
  gone?: Evidence;
  /** The ids of the conditions whose alarms were reported. */
  reported?: string[];
}

/** A longer time between two attempts is one in which the app did not run. */
const MAX_GAP_MS = 900_000;

/** Takes an answer of the chain at a finalized block. The root is undefined if the user has none. */
export function applyAnswer(user: WatchedUserState, root: string | undefined, evidence: Evidence, now: number): void {
  user.readAt = now;
  const before = publishedOf(user);
  if (root === undefined) {
    // At an earlier block, which a node that is behind returns, the user may have had no root.
    if (before !== undefined && blockOf(evidence) >= blockOf(before.evidence)) user.gone = evidence;
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

/** Whether the user's key is to be read: for the first time, or again. */
export function isDue({ publicKey, fileReadAt = NaN }: WatchedUserState, now: number, recheckMs: number): boolean {
  const age = now - fileReadAt;
  return publicKey === undefined || !(age >= 0 && age < recheckMs);
}

/** Takes the user's key from the file of the root: base64, or empty if the file has no valid record of the user. */
export function applyFile(user: WatchedUserState, publicKey: string, now: number): void {
  user.publicKey = publicKey;
  user.fileReadAt = now;
  delete user.outage;
}

/** Takes an attempt to read the file of the root that failed. */
export function applyOutage(user: WatchedUserState, code: string, now: number): void {
  const { since = now, last = now, observedMs = 0, attempts = 0 } = user.outage ?? {};
  const gap = Math.min(Math.abs(now - last), MAX_GAP_MS);
  user.outage = { since, last: now, observedMs: observedMs + gap, attempts: attempts + 1, code };
}

/** The conditions of a user that raise alarms. */
export function conditionsOf(
  userID: UserID,
  user: WatchedUserState,
  { expected, isOwn, fileLimitMs }: { expected: string | undefined; isOwn: boolean; fileLimitMs: number },
): Condition[] {
  const conditions: Condition[] = [];
  const add = (code: Condition["code"], about: string, message: string, facts: Condition["facts"]) => {
    conditions.push({ code, id: `${code}:${about}`, message, facts });
  };
  const published = publishedOf(user);
  if (published === undefined) return [];
  const { root, publicKey, evidence } = published;
  const { earlier, gone, outage } = user;
  const addChange = (before: Published, now: { root?: string; evidence: Evidence }) => {
    const { root: after = "none" } = now;
    const message = `The contract had the root ${before.root} for the user ${userID} and has ${after} now, although it sets a root once.`;
    add("WATCHED_ROOT_CHANGED", after, message, { published: before, now });
  };
  if (earlier !== undefined) addChange(earlier, { root, evidence });
  if (gone !== undefined) addChange(published, { evidence: gone });
  if (publicKey !== undefined && expected !== undefined && publicKey !== expected) {
    const message = `The file ${root}.json has ${publicKey || "no valid key"} for the user ${userID} instead of ${expected}.`;
    add(isOwn ? "WATCHED_KEY_MISMATCH" : "CONTACT_KEY_MISMATCH", `${root}:${expected}`, message, {
      expectedPublicKey: expected,
      published,
    });
  }
  if (outage !== undefined && outage.observedMs >= fileLimitMs) {
    const message = `The file ${root}.json of the user ${userID} is unavailable since ${isoTime(outage.since)}: ${outage.code}.`;
    add("FILE_UNAVAILABLE", root, message, { published, outage });
  }
  return conditions;
}

/** The conditions whose alarms were not reported yet. */
export function newConditions({ reported = [] }: WatchedUserState, conditions: readonly Condition[]): Condition[] {
  return conditions.filter(({ id }) => !reported.includes(id));
}

/** Notes that the alarms of these conditions were reported. A condition that ends and begins again raises another alarm. */
export function noteReported(user: WatchedUserState, conditions: readonly Condition[]): void {
  // Answers that alternate between two roots are reported once.
  const changes = user.reported?.filter((id) => id.startsWith("WATCHED_ROOT")) ?? [];
  user.reported = [...new Set([...changes, ...conditions.map(({ id }) => id)])];
}

function publishedOf({ root, publicKey, evidence }: WatchedUserState): Published | undefined {
  return evidence && { root: String(root), publicKey, evidence };
}

function blockOf({ block }: Evidence): number {
  return block?.number ?? 0;
}

/** A time in ISO 8601, UTC. @param ms since 1970 */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
