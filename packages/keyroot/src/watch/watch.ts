import { bytesToBase64 } from "../bytes/base64.ts";
import type { UserID } from "../identity/userID.ts";
import { checkNames } from "../input/names.ts";
import {
  checkFunction,
  checkInteger,
  checkObject,
  checkSignal,
  invalidArgument,
  MAX_TIMEOUT_MS,
  optional,
} from "../input/options.ts";
import { checkStore, type Store } from "../store/store.ts";
import { withTimeout } from "../transport/fetchBytes.ts";
import { parseKeyQuery } from "../verifier/options.ts";
import type { VerifierSetup } from "../verifier/setup.ts";
import type { Contact } from "../verifier/verifyContacts.ts";
import type { Alarm } from "./alarm.ts";
import { checkUsers, type UserToCheck } from "./checkUsers.ts";
import { type BundleMaker, makeAlarm } from "./makeAlarm.ts";
import { conditionsOf, isDue, newConditions, noteReported, type WatchedUserState } from "./watchedUser.ts";

/** Whose keys to watch, and what to do about an alarm. */
export interface WatchKeysOptions {
  /** The app's own user: 32 lowercase characters of zBase32. */
  userID: UserID;
  /** This user's own key, from the user's own device: 105 bytes, or their base64. */
  publicKey: Uint8Array | string;
  /** Returns the contacts with the keys that the server returns for them now. Called once in each round. */
  contacts?: ((options: { signal: AbortSignal }) => Promise<readonly Contact[]> | readonly Contact[]) | undefined;
  /** Keeps the state of the watch. All tabs of a user use the same store. */
  store: Store;
  /** `makeBundle` of `keyroot/bundle`: makes the evidence for an alarm's file. */
  makeBundle: BundleMaker;
  /** Called once for each alarm; again after a restart if it did not return, or its promise did not resolve. */
  onAlarm: (alarm: Alarm) => unknown;
  /** The maximum pause between two rounds in ms. Default 45,000. It doubles while requests fail, up to 5 minutes. */
  intervalMs?: number | undefined;
  /** How often each contact's root and each file are read again, in ms. Default 1 hour. The own root is read in each round. */
  recheckMs?: number | undefined;
  /** How long a file may be unavailable, in ms of the app's running time. Default 24 hours. */
  fileLimitMs?: number | undefined;
  /** Ends the watch. */
  signal?: AbortSignal | undefined;
}

/** What the last round came to. */
export interface WatchStatus {
  /** When the chain answered last, in ms since 1970; undefined if it never did. */
  checkedAt?: number | undefined;
  /** The errors of the last round. Nothing is wrong with a key because of them: the watch tries again. */
  errors: readonly unknown[];
}

/** A running watch. */
export interface Watch {
  readonly status: WatchStatus;
  /** Runs a round now. @returns what it came to */
  check(): Promise<WatchStatus>;
}

const OPTIONS: (keyof WatchKeysOptions)[] = [
  ...(["userID", "publicKey", "contacts", "store", "makeBundle", "onAlarm"] as const),
  ...(["intervalMs", "recheckMs", "fileLimitMs", "signal"] as const),
];
/** What browsers have, and other runtimes may lack. */
const platform: { navigator?: Partial<Pick<Navigator, "locks" | "onLine">> } = globalThis;

const MAX_BACKOFF_MS = 300_000;
/** How many users a round checks, so that a long list of contacts is checked in many small rounds. */
const MAX_USERS = 20;

/** Everything that a watch remembers, stored as JSON. */
interface WatchState {
  users: Record<UserID, WatchedUserState>;
  /** When the next round is due, and when the chain answered last, in ms since 1970. */
  nextAt: number;
  checkedAt?: number | undefined;
  /** How many rounds have failed since one succeeded. */
  failures: number;
}

/**
 * Watches the user's own key and the contacts' keys until `signal` aborts.
 * @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID, BASE64_INVALID, PUBLIC_KEY_LENGTH
 */
export function watch(setup: VerifierSetup, options: WatchKeysOptions): Watch {
  const { userID, ownKey, contacts, store, makeBundle, onAlarm, intervalMs, recheckMs, fileLimitMs, signal } =
    checkWatchOptions(setup, options);
  const { registry, now } = setup;
  /** The name of the state in the store, and of the lock. */
  const name = ["keyroot-watch-v1", registry.chainId, registry.contract.toLowerCase(), userID].join(":");
  const maxPauseMs = Math.max(intervalMs, MAX_BACKOFF_MS);
  let status: WatchStatus = { errors: [] };
  let queue: Promise<unknown> = Promise.resolve();

  /** Runs work alone among all tabs (Web Locks API), or in this process where there are no such locks. */
  const lock = async <T>(work: () => Promise<T>): Promise<T> => {
    const locks = platform.navigator?.locks;
    if (locks) return locks.request(name, { signal }, work);
    const result = queue.then(work);
    queue = result.catch(() => undefined);
    return result;
  };

  /** The contacts' keys as the server returns them, in base64; undefined for a contact without one. */
  const fetchContacts = async (errors: unknown[]) => {
    const keys = new Map<UserID, string | undefined>();
    try {
      const { timeoutMs } = setup.sources.network.limits;
      const list = await withTimeout("The function contacts", timeoutMs, signal, async (signal) =>
        contacts?.({ signal }),
      );
      for (const contact of list ?? []) keys.set(...parseHolder(setup, contact));
    } catch (error) {
      errors.push(error);
    }
    return keys;
  };

  /** Runs a round, unless another tab has run it already. @returns when the next one is due */
  const round = async (isForced: boolean): Promise<number> => {
    const time = now();
    const state = parseState(await store.get(name));
    status = { ...status, checkedAt: state.checkedAt };
    const wait = state.nextAt - time;
    if (!isForced && wait > 0 && wait <= maxPauseMs) return state.nextAt;

    const errors: unknown[] = [];
    const expected = (await fetchContacts(errors)).set(userID, ownKey);
    const users = Array.from(expected.keys(), (userID): UserToCheck => [userID, (state.users[userID] ??= {})]);
    // The own root is read in each round. Of the contacts, those come first that were not read for the longest time.
    const ageOf = ([id, { readAt = 0 }]: UserToCheck) => (id === userID ? Infinity : Math.abs(time - readAt));
    const due = users.filter(([id, user]) => id === userID || isDue(user, time, recheckMs));
    const chosen = due.sort((a, b) => ageOf(b) - ageOf(a)).slice(0, MAX_USERS);
    const answered = await checkUsers(setup, chosen, { time, recheckMs, signal, errors });
    signal.throwIfAborted();

    for (const [id, user] of users) {
      const conditions = conditionsOf(id, user, { expected: expected.get(id), isOwn: id === userID, fileLimitMs });
      for (const condition of newConditions(user, conditions))
        await onAlarm(await makeAlarm(setup, id, condition, makeBundle, signal));
      noteReported(user, conditions);
    }
    state.failures = answered > 0 ? 0 : state.failures + 1;
    if (answered > 0) state.checkedAt = time;
    // Random, so that clients that failed together do not return together.
    state.nextAt = time + Math.min(intervalMs * 2 ** state.failures, maxPauseMs) * (0.75 + Math.random() / 4);
    await store.set(name, JSON.stringify(state));
    status = { checkedAt: state.checkedAt, errors };
    return state.nextAt;
  };

  const run = async () => {
    while (!signal.aborted) {
      let nextAt = now() + intervalMs;
      // A device that knows to be offline does not even try.
      if (platform.navigator?.onLine ?? true) {
        try {
          nextAt = await lock(() => round(false));
        } catch (error) {
          // An error of the store, or of the app's own function: the next round tries again.
          status = { ...status, errors: [error] };
        }
      }
      await sleep(Math.max(nextAt - now(), 0), signal);
    }
  };
  void run();
  return {
    get status() {
      return status;
    },
    async check() {
      await lock(() => round(true));
      return status;
    },
  };
}

function checkWatchOptions(setup: VerifierSetup, options: WatchKeysOptions) {
  checkNames("The options", checkObject("The options", options, "an object with userID and publicKey"), OPTIONS);
  const { intervalMs = 45_000, recheckMs = 3_600_000, fileLimitMs = 86_400_000 } = options;
  const { contacts, store, makeBundle, onAlarm } = options;
  const { anchor } = setup.policy;
  if (typeof anchor === "object" && "blockHash" in anchor)
    throw invalidArgument("The option blockHash", "undefined for a watch", anchor.blockHash);
  // Without a key, no bytes: they are refused.
  const { publicKey } = options as Partial<WatchKeysOptions>;
  const [userID, ownKey] = parseHolder(setup, { ...options, expectedPublicKey: publicKey ?? "" });
  return {
    userID,
    ownKey,
    contacts: optional(checkFunction, "The option contacts", contacts),
    store: checkStore("The option store", store),
    makeBundle: checkFunction("The option makeBundle", makeBundle),
    onAlarm: checkFunction("The option onAlarm", onAlarm),
    intervalMs: checkInteger("The option intervalMs", intervalMs, 1, MAX_TIMEOUT_MS),
    recheckMs: checkInteger("The option recheckMs", recheckMs, 0),
    fileLimitMs: checkInteger("The option fileLimitMs", fileLimitMs, 0),
    signal: optional(checkSignal, "The option signal", options.signal) ?? new AbortController().signal,
  };
}

/** A user and their key in base64, if there is one. */
function parseHolder({ registry }: VerifierSetup, contact: Contact): [UserID, string | undefined] {
  const { userID, expectedPublicKey: key } = parseKeyQuery(registry, contact.userID, contact.expectedPublicKey);
  return [userID, key && bytesToBase64(key)];
}

/** A state that cannot be read counts as missing: everything is checked again. */
function parseState(text: unknown): WatchState {
  try {
    const state = JSON.parse(text as string) as WatchState;
    // Throws if `users` is missing.
    Object.keys(state.users);
    return state;
  } catch {
    return { users: {}, nextAt: 0, failures: 0 };
  }
}

/** Waits until the time is over or the signal aborts. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", resolve);
  if (!signal.aborted) await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", resolve);
}
