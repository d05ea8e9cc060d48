import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, TransportError } from "keyroot/errors";
import type { UserID } from "keyroot/identity";
import type { Finding } from "./finding.ts";
import { look, type LookOptions } from "./look.ts";

/** Every so often the files of the users' own roots are read again. */
const OWN_FILES_EVERY_MS = 600_000;
/** While nobody answers, the pause doubles up to this. */
const LONGEST_PAUSE_MS = 300_000;

/** What one look has to say. */
type LookEvent =
  | { event: "root"; root: string; addedCount: number; blockNumber: number }
  | { event: "published"; userID: UserID; root: string }
  | ({ event: "alarm" | "notice" } & Finding)
  | { event: "looked"; blockNumber: number; blockHash: string };

/** What a watch has to say, in the order in which it happens. */
export type WatchEvent =
  LookEvent | { event: "no-answer"; code: ErrorCode; message: string; nextTryMs: number } | { event: "answered" };

export interface WatchOptions extends Omit<LookOptions, "ownFiles"> {
  /** Milliseconds from the end of one look to the next. */
  everyMs: number;
  /** Ends the watch; a look that is under way is finished first. */
  signal: AbortSignal;
}

/**
 * Looks again and again, and tells what is new: after each look the events of it, perhaps none. Each alarm is given once.
 * Where endpoint or file host do not answer, it says so, and tries again, after longer and longer pauses; nothing is left
 * out by that.
 * @throws VerificationError as `look`; TransportError FILE_UNWRITABLE for the state
 */
export async function* watch(options: WatchOptions): AsyncGenerator<WatchEvent[]> {
  const { everyMs, signal } = options;
  const told = new Set<string>();
  let ownFilesAt = -Infinity;
  let failures = 0;
  while (!signal.aborted) {
    const now = performance.now();
    const ownFiles = now - ownFilesAt >= OWN_FILES_EVERY_MS;
    try {
      const events = await eventsOf({ ...options, ownFiles });
      const news = events.filter((event) => !told.has(keyOf(event)));
      for (const event of news) told.add(keyOf(event));
      yield failures > 0 ? [{ event: "answered" }, ...news] : news;
      if (ownFiles) ownFilesAt = now;
      failures = 0;
    } catch (error) {
      if (!(error instanceof TransportError) || error.code === "FILE_UNWRITABLE") throw error;
      const { code, message } = error;
      yield [{ event: "no-answer", code, message, nextTryMs: pause(everyMs, ++failures) }];
    }
    await sleep(pause(everyMs, failures), undefined, { signal }).catch(() => undefined);
  }
}

/** What an event is known by: an alarm by its code, root and user, a block by its hash. */
function keyOf(event: LookEvent): string {
  if ("code" in event) return [event.code, event.root, event.userID].join();
  return JSON.stringify(event);
}

/** One look, as events. @throws as `look` */
export async function eventsOf(
  options: LookOptions,
): Promise<Exclude<WatchEvent, { event: "no-answer" | "answered" }>[]> {
  const { block, added, published, findings } = await look(options);
  return [
    ...added.map(({ root, addedCount, blockNumber }) => ({ event: "root" as const, root, addedCount, blockNumber })),
    ...published.map(({ userID, root }) => ({ event: "published" as const, userID, root })),
    ...findings.map((one) => ({ event: one.severity === "damage" ? ("alarm" as const) : ("notice" as const), ...one })),
    { event: "looked", blockNumber: block.number, blockHash: block.hash },
  ];
}

function pause(everyMs: number, failures: number): number {
  return Math.max(everyMs, Math.min(everyMs * 2 ** failures, LONGEST_PAUSE_MS));
}
