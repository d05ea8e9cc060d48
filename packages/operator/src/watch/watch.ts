import { setTimeout as sleep } from "node:timers/promises";
import { TransportError } from "keyroot/internal/errors";
import type { UserID } from "keyroot/internal/identity";
import { checkOptions } from "../checkOptions.ts";
import { checkFileSource } from "../follow/index.ts";
import { type Finding, finding, type FindingCode } from "../audit/finding.ts";
import { type PollOptions, readLogs, readUsers } from "./pollChain.ts";
import { readFiles, UNAVAILABLE_AFTER_MS } from "./pollFiles.ts";

/** The time after which the file of a watched user is read again, in ms. */
const REREAD_AFTER_MS = 600_000;
/** The maximum pause between polls in ms. While requests fail, the pause doubles up to this value. */
const MAX_PAUSE_MS = 300_000;
/**
 * The maximum time in ms that a poll spends on reading files. Without this limit, a slow file host would delay the next
 * reads of the chain.
 */
const MAX_FILES_MS = 60_000;

/** The events of one poll. The last event is `polled`. */
export type PollEvent =
  /**
   * The contract has a new root for a watched user. The event is reported before the root's file is read, so a file
   * host cannot suppress it.
   */
  | { event: "assigned"; userID: UserID; root: string }
  /** A root was added to the registry. */
  | { event: "rootAdded"; root: string; addedCount: number; blockNumber: number }
  /** A watched user has a new root, whose file contains the user's key. */
  | { event: "published"; userID: UserID; root: string }
  /** A due file was not read. Later polls request it again. `since` is a time in ISO 8601. */
  | { event: "fileUnavailable"; root: string; code: string; message: string; since: string }
  /**
   * Damage, which `code` and `message` describe. If an earlier poll with the same state has already reported it, the
   * event is `stillOpen`.
   */
  | ({ event: "alarm" | "stillOpen" } & Finding)
  | ({ event: "notice" } & Finding)
  /** A poll has ended. The event contains the poll's counts. */
  | ({ event: "polled" } & PollSummary);

/** The result of one poll in numbers. */
interface PollSummary {
  /** The number of the block that the poll reached. */
  blockNumber: number;
  blockHash: string;
  /**
   * The number of roots that were added since the previous poll. `usersAdded` is the number of users to whom these
   * roots were assigned.
   */
  rootsAdded: number;
  usersAdded: number;
  /** The number of watched users, and the number of watched users with a key in their root's file. */
  watchedUsers: number;
  publishedUsers: number;
  /**
   * The number of alarms at this block. Every poll counts an alarm that persists, but only the first poll reports it.
   */
  alarms: number;
  notices: number;
  /** The number of due files that this poll did not read. */
  unavailableFiles: number;
}

/** The events of a watch: the events of the polls, and changes of the endpoint's availability. */
export type WatchEvent =
  | PollEvent
  /** The endpoint failed. The next poll starts at the same block after `retryInMs`. */
  | { event: "unavailable"; code: string; message: string; retryInMs: number }
  /** The endpoint is available again. */
  | { event: "recovered" };

/** Options of the function `watch`. */
export interface WatchOptions extends Omit<PollOptions, "rereadAfterMs" | "maxFilesMs"> {
  /** The pause between two polls, in ms. */
  intervalMs: number;
  /** Ends the watch after the current poll. */
  signal: AbortSignal;
}

const POLL_OPTIONS: Record<Exclude<keyof PollOptions, "rereadAfterMs" | "maxFilesMs">, true> = {
  ...{ call: true, chainId: true, contract: true, files: true, keyType: true, users: true },
  ...{ tag: true, findBlock: true, fromBlock: true, state: true, unavailableAfterMs: true, maxAgeMs: true },
  ...{ retry: true, now: true },
};

/** `watch` also accepts an object that was made for `pollEvents`, and sets `rereadAfterMs` itself. */
const WATCH_OPTIONS: Record<keyof WatchOptions | "rereadAfterMs", true> = {
  ...POLL_OPTIONS,
  ...{ rereadAfterMs: true, intervalMs: true, signal: true },
};

/**
 * Watches a registry: polls until the caller ends the watch, and yields the new events after each step of a poll. Each
 * alarm and each block is reported once, and no block is skipped.
 *
 * If the endpoint fails, the failure is reported, and the watch tries again after longer and longer pauses. A failure
 * that lasts `unavailableAfterMs` is an alarm. Otherwise, a watch without data would look like a watch without
 * findings.
 * @throws VerificationError the errors of `poll`; TransportError FILE_UNWRITABLE for the state
 * @example
 * ```ts
 * const stop = new AbortController();
 * for await (const events of watch({ ...options, intervalMs: 12_000, signal: stop.signal })) {
 *   for (const event of events) console.log(JSON.stringify(event));
 * }
 * ```
 */
export async function* watch(options: WatchOptions): AsyncGenerator<WatchEvent[]> {
  checkOptions("The options of watch", options, WATCH_OPTIONS);
  const { intervalMs, signal, ...pollOptions } = options;
  const isNew = newEventFilter();
  let outage: Outage | undefined;
  while (!signal.aborted) {
    const start = performance.now();
    try {
      for await (const events of pollEvents({
        ...pollOptions,
        rereadAfterMs: REREAD_AFTER_MS,
        maxFilesMs: MAX_FILES_MS,
      })) {
        const hasRecovered = outage !== undefined && events.at(-1)?.event === "polled";
        const newEvents = events.filter(isNew);
        yield hasRecovered ? [{ event: "recovered" }, ...newEvents] : newEvents;
      }
      outage = undefined;
    } catch (error) {
      if (!(error instanceof TransportError) || error.code === "FILE_UNWRITABLE") throw error;
      outage ??= { startedAt: start, failures: 0, isReported: false };
      yield describeFailure(outage, error, options);
    }
    await sleep(pauseMs(intervalMs, outage?.failures ?? 0), undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Polls once, and yields the events of each step as soon as the step ends. The three steps read the watched users'
 * roots, the new roots, and the files.
 * @throws ArgumentError ARGUMENT_INVALID at once; the generator throws the errors of `poll`
 */
export function pollEvents(options: PollOptions): AsyncGenerator<PollEvent[]> {
  checkOptions("The options of pollEvents", options, { ...POLL_OPTIONS, rereadAfterMs: true, maxFilesMs: true });
  checkFileSource(options.files);
  return pollSteps(options);
}

async function* pollSteps(options: PollOptions): AsyncGenerator<PollEvent[]> {
  const users = await readUsers(options);
  const { block, assigned } = users;
  const { state } = options;
  const toEvent = (one: Finding): PollEvent => {
    if (one.severity !== "damage") return { event: "notice", ...one };
    return { event: state.alarms.has(alarmKeyOf(one)) ? "stillOpen" : "alarm", ...one };
  };
  yield [...assigned.map((user) => ({ event: "assigned" as const, ...user })), ...users.findings.map(toEvent)];

  const logs = await readLogs(options, users);
  const { added } = logs;
  const addedEvents = added.map(({ root, addedCount, blockNumber }) => {
    return { event: "rootAdded" as const, root, addedCount, blockNumber };
  });
  yield [...addedEvents, ...logs.findings.map(toEvent)];

  const { published, unavailable, findings } = await readFiles(options, users, logs);
  const all = [...users.findings, ...logs.findings, ...findings];
  const damage = all.filter(({ severity }) => severity === "damage");
  const alarms = damage.length;
  yield [
    ...published.map((user) => ({ event: "published" as const, ...user })),
    ...unavailable.map(({ since, ...file }) => {
      return { event: "fileUnavailable" as const, ...file, since: new Date(since).toISOString() };
    }),
    ...findings.map(toEvent),
    {
      event: "polled",
      blockNumber: block.number,
      blockHash: block.hash,
      rootsAdded: added.length,
      usersAdded: added.reduce((sum, { addedCount }) => sum + addedCount, 0),
      watchedUsers: options.users.length,
      publishedUsers: options.users.filter(({ userID }) => options.state.roots.has(userID)).length,
      alarms,
      notices: all.length - alarms,
      unavailableFiles: unavailable.length,
    },
  ];
  // The caller has now received all alarms. Forget the alarms that have ended, so that they are reported again if they
  // start again, as in `newEventFilter`.
  const lasting = Array.from(state.alarms).filter((key) => !canEnd(findingOf(key)));
  state.saveAlarms(new Set([...lasting, ...damage.map(alarmKeyOf)]));
}

/** A series of failed polls. */
interface Outage {
  /** The value of `performance.now()` at the first failure. */
  startedAt: number;
  failures: number;
  isReported: boolean;
}

/** Returns the events of a failed poll. The first failure after `unavailableAfterMs` is also an alarm. */
function describeFailure(
  outage: Outage,
  { code, message }: TransportError,
  { intervalMs, unavailableAfterMs = UNAVAILABLE_AFTER_MS }: WatchOptions,
): WatchEvent[] {
  const events: WatchEvent[] = [
    { event: "unavailable", code, message, retryInMs: pauseMs(intervalMs, ++outage.failures) },
  ];
  const ms = performance.now() - outage.startedAt;
  if (outage.isReported || ms < unavailableAfterMs) return events;
  outage.isReported = true;
  const text = `The endpoint has been unavailable for ${Math.round(ms / 1000)} s. Nothing is watched in this time. ${code}: ${message}`;
  return [...events, { event: "alarm", ...finding("ENDPOINT_UNAVAILABLE", text, { detail: code }) }];
}

/**
 * Returns a filter for events that no earlier poll reported. Events are compared by code, root and user, or by block
 * hash.
 *
 * If an unavailable file or a finding about the chain ends and comes back, it is reported again. Otherwise an endpoint
 * could raise one false alarm, and then hide later attacks behind it.
 */
function newEventFilter(): (event: PollEvent) => boolean {
  const reported = new Set<string>();
  let [last, current] = [new Set<string>(), new Set<string>()];
  let lastBlockHash = "";
  return (event) => {
    if (event.event === "polled") {
      [last, current] = [current, new Set()];
      const isNew = event.blockHash !== lastBlockHash;
      lastBlockHash = event.blockHash;
      return isNew;
    }
    if (event.event === "fileUnavailable" || ("code" in event && canEnd(event))) {
      const identity = event.event === "fileUnavailable" ? `${event.event},${event.root}` : alarmKeyOf(event);
      current.add(identity);
      return !last.has(identity);
    }
    const identity = "code" in event ? alarmKeyOf(event) : JSON.stringify(event);
    const isNew = !reported.has(identity);
    reported.add(identity);
    return isNew;
  };
}

/** Identifies what a finding is about: its code, root and user. */
export function alarmKeyOf({ code, root, userID }: Pick<Finding, "code" | "root" | "userID">): string {
  return [code, root, userID].join();
}

function findingOf(key: string): Pick<Finding, "code" | "root"> {
  const [code, root = ""] = key.split(",");
  return { code: code as FindingCode, root: root === "" ? undefined : root };
}

/**
 * Returns true for findings that can end: an unavailable file, and findings about the chain. Every poll reports these
 * findings again as long as they last.
 */
function canEnd({ code, root }: Pick<Finding, "code" | "root">): boolean {
  return root === undefined || code === "FILE_UNAVAILABLE" || code === "WATCHED_ROOT_CHANGED";
}

function pauseMs(intervalMs: number, failures: number): number {
  return Math.max(intervalMs, Math.min(intervalMs * 2 ** failures, MAX_PAUSE_MS));
}
