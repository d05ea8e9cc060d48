import type { Evidence } from "../evidence.ts";
import type { UserID } from "../identity/userID.ts";
import type { Condition, Published } from "./alarm.ts";
import { publishedOf, type WatchedUserState } from "./watchedUser.ts";

/** Maximum number of reported root changes in a user's state. */
const MAX_CHANGES = 20;

/** Returns the conditions of a user that raise alarms. */
export function conditionsOf(
  userID: UserID,
  user: WatchedUserState,
  { expected, isOwn, fileLimitMs }: { expected: string | undefined; isOwn: boolean; fileLimitMs: number },
): Condition[] {
  const conditions: Condition[] = [];
  const add = (code: Condition["code"], about: string, message: string, facts: Condition["facts"]) => {
    conditions.push({ code, id: `${code}:${about}`, message, slotID: user.slot?.id, facts });
  };
  const published = publishedOf(user);
  if (published === undefined) return [];
  const { root, publicKey, evidence } = published;
  const { earlier, gone, outage } = user;
  const addChange = (before: Published, now: { root?: string; evidence: Evidence }) => {
    const { root: after = "none" } = now;
    const message = `The contract's root for the user ${userID} was ${before.root} and is now ${after}. A root never changes, so one answer is false.`;
    add("WATCHED_ROOT_CHANGED", after, message, { published: before, now });
  };
  if (earlier !== undefined) addChange(earlier, { root, evidence });
  if (gone !== undefined) addChange(published, { evidence: gone });
  if (publicKey !== undefined && expected !== undefined && publicKey !== expected) {
    const message = `The app has ${expected} for the user ${userID}, but ${publicKey || "no valid key"} is published in ${root}.json.`;
    add(isOwn ? "WATCHED_KEY_MISMATCH" : "CONTACT_KEY_MISMATCH", `${root}:${expected}`, message, {
      expectedPublicKey: expected,
      published,
    });
  }
  if (outage !== undefined && outage.observedMs >= fileLimitMs) {
    const message = `The file ${root}.json of the user ${userID} has been unavailable since ${isoTime(outage.since)}: ${outage.code}.`;
    add("FILE_UNAVAILABLE", root, message, { published, outage });
  }
  return conditions;
}

/** Returns the conditions that have no reported alarm yet. */
export function newConditions({ reported = [] }: WatchedUserState, conditions: readonly Condition[]): Condition[] {
  return conditions.filter(({ id }) => !reported.includes(id));
}

/**
 * Records which alarms were reported, so that each alarm is raised only once. If a condition ends and begins again, it
 * raises a new alarm, unless it is about a changed root.
 * @param undelivered the conditions whose alarms must be repeated
 */
export function noteReported(
  user: WatchedUserState,
  conditions: readonly Condition[],
  undelivered: ReadonlySet<Condition> = new Set(),
): void {
  const reported = conditions.filter((condition) => !undelivered.has(condition));
  // The chain's answers may alternate between a few roots, each of which is reported only once.
  const changes = user.reported?.filter((id) => id.startsWith("WATCHED_ROOT")).slice(-MAX_CHANGES) ?? [];
  user.reported = [...new Set([...changes, ...reported.map(({ id }) => id)])];
}

/** Formats a time in ISO 8601, UTC. @param ms the time in ms since 1970 */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
