import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, TransportError } from "keyroot/errors";
import type { UserID } from "keyroot/identity";
import { checkOptions } from "../checkOptions.ts";
import { checkFileSource } from "./fileSource.ts";
import type { Finding } from "./finding.ts";
import { poll, type PollOptions } from "./poll.ts";

/** How often the files of the users' own roots are read again. */
const OWN_FILES_INTERVAL_MS = 600_000;
/** While requests fail, the pause doubles up to this. */
const MAX_PAUSE_MS = 300_000;

/** What one poll reports. The last event of each poll is `polled`. */
export type PollEvent =
  /** A root was added to the registry. */
  | { event: "rootAdded"; root: string; addedCount: number; blockNumber: number }
  /** A watched user has got a root, and its file has their key. */
  | { event: "published"; userID: UserID; root: string }
  /** Damage: `code` and `message` say which. */
  | ({ event: "alarm" } & Finding)
  | ({ event: "notice" } & Finding)
  /** The end of a poll, and its result in numbers. */
  | ({ event: "polled" } & PollSummary);

/** The result of one poll in numbers. */
interface PollSummary {
  /** The block that it reached. */
  blockNumber: number;
  blockHash: string;
  /** Roots added since the poll before, and their users. */
  rootsAdded: number;
  usersAdded: number;
  /** How many users are watched, and how many of them have a root whose file has their key. */
  watchedUsers: number;
  publishedUsers: number;
  /** What is wrong at this block. An alarm that lasts is counted in each poll, and reported in the first one. */
  alarms: number;
  notices: number;
}

export type WatchEvent =
  | PollEvent
  /** The endpoint or the file host failed. The next poll begins in `retryInMs`, at the same block. */
  | { event: "unavailable"; code: ErrorCode; message: string; retryInMs: number }
  /** They work again. */
  | { event: "recovered" };

export interface WatchOptions extends Omit<PollOptions, "readOwnFiles"> {
  /** The pause between two polls, in ms. */
  intervalMs: number;
  /** Ends the watch after the current poll. */
  signal: AbortSignal;
}

const POLL_OPTIONS: Record<Exclude<keyof PollOptions, "readOwnFiles">, true> = {
  ...{ call: true, chainId: true, contract: true, files: true, users: true },
  ...{ tag: true, fromBlock: true, state: true },
};

/**
 * Polls until it is stopped, and yields the new events of each poll; each alarm and each block once. If the endpoint or the
 * file host fails, it reports that and tries again after longer and longer pauses. No block is skipped.
 * @throws VerificationError as `poll`; TransportError FILE_UNWRITABLE for the state
 */
export async function* watch(options: WatchOptions): AsyncGenerator<WatchEvent[]> {
  checkOptions("The options of watch", options, { ...POLL_OPTIONS, intervalMs: true, signal: true });
  const { intervalMs, signal, ...pollOptions } = options;
  const isNew = newEventFilter();
  let ownFilesReadAt = -Infinity;
  let failures = 0;
  while (!signal.aborted) {
    const now = performance.now();
    const readOwnFiles = now - ownFilesReadAt >= OWN_FILES_INTERVAL_MS;
    try {
      const events = await pollEvents({ ...pollOptions, readOwnFiles });
      const newEvents = events.filter(isNew);
      yield failures > 0 ? [{ event: "recovered" }, ...newEvents] : newEvents;
      if (readOwnFiles) ownFilesReadAt = now;
      failures = 0;
    } catch (error) {
      if (!(error instanceof TransportError) || error.code === "FILE_UNWRITABLE") throw error;
      const { code, message } = error;
      yield [{ event: "unavailable", code, message, retryInMs: pauseMs(intervalMs, ++failures) }];
    }
    await sleep(pauseMs(intervalMs, failures), undefined, { signal }).catch(() => undefined);
  }
}

/** Polls once, and returns what it found as events. @throws as `poll` */
export async function pollEvents(options: PollOptions): Promise<PollEvent[]> {
  checkOptions("The options of pollEvents", options, { ...POLL_OPTIONS, readOwnFiles: true });
  checkFileSource(options.files);
  const { block, added, published, findings } = await poll(options);
  const alarms = findings.filter(({ severity }) => severity === "damage").length;
  return [
    ...added.map(({ root, addedCount, blockNumber }) => ({
      event: "rootAdded" as const,
      root,
      addedCount,
      blockNumber,
    })),
    ...published.map(({ userID, root }) => ({ event: "published" as const, userID, root })),
    ...findings.map((one) => ({ event: one.severity === "damage" ? ("alarm" as const) : ("notice" as const), ...one })),
    {
      event: "polled",
      blockNumber: block.number,
      blockHash: block.hash,
      rootsAdded: added.length,
      usersAdded: added.reduce((sum, { addedCount }) => sum + addedCount, 0),
      watchedUsers: options.users.length,
      publishedUsers: options.users.filter(({ userID }) => options.state.roots.has(userID)).length,
      alarms,
      notices: findings.length - alarms,
    },
  ];
}

/** Returns a filter of events that no earlier poll reported, by code, root and user, or by the hash of the block. */
function newEventFilter(): (event: PollEvent) => boolean {
  const reported = new Set<string>();
  let lastBlockHash = "";
  return (event) => {
    if (event.event === "polled") {
      const isNew = event.blockHash !== lastBlockHash;
      lastBlockHash = event.blockHash;
      return isNew;
    }
    const identity = "code" in event ? [event.code, event.root, event.userID].join() : JSON.stringify(event);
    const isNew = !reported.has(identity);
    reported.add(identity);
    return isNew;
  };
}

function pauseMs(intervalMs: number, failures: number): number {
  return Math.max(intervalMs, Math.min(intervalMs * 2 ** failures, MAX_PAUSE_MS));
}
