import { loadModule } from "../engine/loadModule.ts";
import { bytesToBase64 } from "../bytes/base64.ts";
import { requireFeature } from "../engine/requireFeature.ts";
import { EnvironmentError } from "../errors.ts";
import type { UserID } from "../identity/userID.ts";
import {
  checkNames,
  checkFunction,
  checkInteger,
  checkObject,
  checkSignal,
  invalidArgument,
  MAX_TIMEOUT_MS,
  optional,
} from "../input/options.ts";
import { asCache } from "../store/access.ts";
import { checkStore, type Store } from "../store/store.ts";
import { withTimeout } from "../transport/timeout.ts";
import type { Contact } from "../verifier/contacts.ts";
import { checkAccountOption, type KeyOptions, parseKeyQuery } from "../verifier/options.ts";
import { checkContract } from "../verifier/servers.ts";
import type { VerifierConfig } from "../verifier/verifierConfig.ts";
import type { Alarm } from "./alarm.ts";
import { checkUsers, type StepRunner } from "./checkUsers.ts";
import type { BundleMaker } from "./makeAlarm.ts";
import { type DueAlarm, raiseAlarms } from "./raiseAlarms.ts";
import { conditionsOf, newConditions, noteReported } from "./alarmConditions.ts";
import { isDue, isOld, type UserToCheck } from "./watchedUser.ts";
import { chooseContacts, listUsers, parseState, serializeState, type WatchState } from "./watchState.ts";

/** The keys to watch, and the function to call for an alarm. */
export interface WatchKeysOptions {
  /** The id of the app's own user: 32 lowercase characters of zBase32. */
  userID: UserID;
  /** This user's own key from the user's device: 105 bytes, or the same bytes in base64. */
  publicKey: Uint8Array | string;
  /**
   * This user's own account file from the user's device, for a verifier with the `accounts` option. It must authorize
   * `publicKey`. After each change of the key, end the watch and start another one.
   */
  account?: KeyOptions["account"];
  /**
   * Returns the contacts, each with the key that the server returns now. The watch calls this function once in each
   * round.
   */
  contacts?: ((options: { signal: AbortSignal }) => Promise<readonly Contact[]> | readonly Contact[]) | undefined;
  /** The store for the state of the watch. All tabs of a user must use the same store. */
  store: Store;
  /** The `makeBundle` function of `keyroot/bundle`, which makes the evidence for an alarm's file. */
  makeBundle: BundleMaker;
  /**
   * A function that is called once for each alarm. If it throws, or if its promise rejects or does not resolve within
   * `limits.timeoutMs`, the watch calls it again in a later round. Other alarms do not wait for this.
   */
  onAlarm: (alarm: Alarm) => unknown;
  /**
   * Maximum pause in ms between two rounds. After failed requests, the pause doubles each time, up to 5 minutes.
   * Default: 45,000.
   */
  intervalMs?: number | undefined;
  /**
   * The time in ms after which a contact's root or a file is read again. The user's own root is read in each round.
   * Default: 1 hour.
   */
  recheckMs?: number | undefined;
  /**
   * Maximum time in ms for which a file may be unavailable. Time during which the app does not run is not counted.
   * Default: 24 hours.
   */
  fileLimitMs?: number | undefined;
  /** A signal that ends the watch. */
  signal?: AbortSignal | undefined;
}

/** The result of the last round. */
export interface WatchStatus {
  /** When the user's own root was last read, in ms since 1970. Undefined until it has been read once. */
  checkedAt?: number | undefined;
  /**
   * When each contact's root was last read, in ms since 1970. A contact is in the map as soon as its root has been read
   * once. While the `contacts` function fails, the map has the contacts of its last list.
   */
  contactsCheckedAt: ReadonlyMap<UserID, number>;
  /** The errors of the last round: failed requests, which the next round repeats, and malformed contacts. */
  errors: readonly unknown[];
}

/** A running watch. */
export interface Watch {
  readonly status: WatchStatus;
  /** Runs a round immediately. @returns the result of this round */
  check(): Promise<WatchStatus>;
  /** Starts no more rounds, for example while the app is in the background. A running round continues. */
  pause(): void;
  /** Ends the pause, and runs a round immediately if one is due. */
  resume(): void;
}

const OPTIONS: (keyof WatchKeysOptions)[] = [
  ...(["userID", "publicKey", "account", "contacts", "store", "makeBundle", "onAlarm"] as const),
  ...(["intervalMs", "recheckMs", "fileLimitMs", "signal"] as const),
];
/** Browser functions, which other runtimes may not have. */
const platform: { navigator?: Partial<Pick<Navigator, "locks" | "onLine">>; document?: unknown } = globalThis;

/**
 * The time of an epoch in ms: 32 slots of 12 seconds (consensus specification, "Time parameters"). At most one block is
 * finalized in an epoch, so no root is read more often.
 */
const EPOCH_MS = 384_000;
const MAX_BACKOFF_MS = 300_000;
const MAX_ERRORS = 100;
/**
 * The time limit for an access to the store, as a multiple of the limit in a verification. It is longer because the
 * watch's state, unlike a cache, must not be lost.
 */
const STORE_TIMES = 3;

/**
 * Watches the user's own key and the contacts' keys until `signal` aborts.
 * @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID, BASE64_INVALID, PUBLIC_KEY_LENGTH
 * @throws EnvironmentError ENVIRONMENT_UNSUPPORTED in a web page without Web Locks, or if the platform lacks a feature
 * that the store needs
 */
export async function watch(config: VerifierConfig, options: WatchKeysOptions): Promise<Watch> {
  await checkContract(config.registry.contract);
  const { userID, own, contacts, store, makeBundle, onAlarm, intervalMs, recheckMs, fileLimitMs, signal } =
    checkWatchOptions(config, options);
  const { registry, now, publicationMs } = config;
  const accounts = config.verifyAccountFile && (await loadModule(() => import("./accountSlots.ts")));
  accounts?.checkOwnAccount(config, userID, own);
  /** The name of the state in the store. The lock has the same name. */
  const name = ["keyroot-watch-v1", registry.chainId, registry.contract.toLowerCase(), userID].join(":");
  const maxPauseMs = Math.max(intervalMs, MAX_BACKOFF_MS);
  // A page may be open in several tabs, which need a lock so that only one of them runs the checks.
  if (platform.document !== undefined)
    requireFeature("navigator.locks", platform.navigator?.locks, "web-locks, or use https");
  let status: WatchStatus = { contactsCheckedAt: new Map(), errors: [] };
  let errors: unknown[] = [];
  /** This tab's last state as text, for a store that fails. */
  let lastState: string | undefined;
  /** The alarms that `onAlarm` did not accept. */
  const refused = new Set<string>();
  const { timeoutMs } = config.servers.network.limits;
  const openStore = () => asCache("The watch's store", store, STORE_TIMES * timeoutMs, (error) => errors.push(error));
  let queue: Promise<unknown> = Promise.resolve();

  /** Runs work in only one tab at a time, with the Web Locks API, or one task at a time per process without it. */
  const lock = async <T>(work: () => Promise<T>): Promise<T> => {
    const locks = platform.navigator?.locks;
    if (locks) return locks.request(name, { signal }, work);
    const result = queue.then(work);
    queue = result.catch(() => undefined);
    return result;
  };

  /** Returns the valid contacts, or undefined if the app's function fails. */
  const fetchContacts = async () => {
    const keys = new Map<UserID, Holder>();
    try {
      const list = await withTimeout("The function contacts", timeoutMs, signal, async (signal) =>
        contacts?.({ signal }),
      );
      for (const contact of list ?? []) {
        try {
          keys.set(...parseHolder(config, contact));
        } catch (error) {
          if (errors.length < MAX_ERRORS) errors.push(error);
        }
      }
      keys.delete(userID);
      return keys;
    } catch (error) {
      errors.push(error);
      return undefined;
    }
  };

  /**
   * Runs a round, unless another tab has already run it.
   * @returns the time of the next round, in ms since 1970
   */
  const round = async (isForced: boolean): Promise<number> => {
    const time = now();
    errors = [];
    const stored = parseState(await openStore().get(name));
    const last = parseState(lastState);
    // Another tab may have stored a newer state, but a store that is full or damaged has an older one or none.
    const state = last.round > stored.round ? last : stored;
    status = statusOf(state, userID, status.errors);
    const { nextAt, round } = state;
    const wait = nextAt - time;
    if (!isForced && wait > 0 && wait <= maxPauseMs) return nextAt;

    const list = await fetchContacts();
    const { contacts, own: ownUser, leftOut } = listUsers(state, userID, list && [...list.keys()]);
    const count = contacts.length;
    if (leftOut > 0) errors.push(invalidArgument("The number of contacts", `at most ${count}`, count + leftOut));
    // Always include the app's user, whose root is read in each round.
    const isRootDue = ([, { readAt }]: UserToCheck) => isForced || isOld(readAt, time, EPOCH_MS);
    const due = contacts.filter(isRootDue).filter(([, user]) => isDue(user, time, recheckMs));
    const chosen = [ownUser].filter(isRootDue).concat(chooseContacts(round, due));
    const keys = new Map(list).set(userID, own);
    let accountStore = openStore();
    const openAccountStore = () => (accountStore = openStore());
    const readAccounts =
      accounts &&
      ((users: readonly UserToCheck[], forEach: StepRunner) =>
        accounts.readAccounts(config, users, { forEach, openStore: openAccountStore, keys, round, time }));
    const reading = { own: userID, round, time, recheckMs, signal, errors, readAccounts };
    if (chosen.length > 0) state.failures = (await checkUsers(config, chosen, reading)) > 0 ? 0 : state.failures + 1;
    if (signal.aborted) throw signal.reason ?? new Error();

    const alarms: DueAlarm[] = [];
    const found = [ownUser, ...contacts].map(([id, user]) => {
      const isOwn = id === userID;
      const conditions = conditionsOf(id, user, { expected: keys.get(id)?.expected, isOwn, fileLimitMs });
      if (accounts) conditions.push(...accounts.accountConditions(id, user, { isOwn, limitMs: publicationMs, time }));
      for (const condition of newConditions(user, conditions)) alarms.push({ userID: id, condition });
      return { user, conditions };
    });
    const undelivered = await raiseAlarms(config, alarms, { makeBundle, onAlarm, refused, errors, signal });
    for (const { user, conditions } of found) noteReported(user, conditions, undelivered);
    // The time is random, so that clients that failed together retry at different times.
    state.nextAt = time + Math.min(intervalMs * 2 ** state.failures, maxPauseMs) * (0.75 + Math.random() / 4);
    lastState = serializeState(state);
    // The state is stored even if the store failed for an account.
    await Promise.all([openStore().set(name, lastState), accountStore.close()]);
    status = statusOf(state, userID, errors);
    return state.nextAt;
  };

  await openStore().get(name);
  // A feature that the platform lacks, such as IndexedDB in Node, stays missing.
  const [{ cause } = {}] = errors as { cause?: unknown }[];
  if (cause instanceof EnvironmentError) throw cause;

  let isPaused = false;
  let waking = new AbortController();

  const run = async () => {
    while (!signal.aborted) {
      const { signal: wake } = waking;
      let nextAt = now() + intervalMs;
      // Sends no request while the browser reports that the device is offline.
      if (!isPaused && (platform.navigator?.onLine ?? true)) {
        try {
          nextAt = await lock(() => round(false));
        } catch (error) {
          // The next round repeats the work.
          status = { ...status, errors: [error] };
        }
      }
      // Waits until the next round is due, the watch ends or a pause ends. The clock may have been set back in the round.
      const waitMs = Math.max(Math.min(nextAt - now(), maxPauseMs), 0);
      await withTimeout("", waitMs, wake, () => new Promise(() => undefined)).catch(() => undefined);
    }
  };
  signal.addEventListener("abort", () => {
    waking.abort();
  });
  void run();
  return {
    get status() {
      return status;
    },
    async check() {
      await lock(() => round(true));
      return status;
    },
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      waking.abort();
      waking = new AbortController();
    },
  };
}

function checkWatchOptions(config: VerifierConfig, options: WatchKeysOptions) {
  checkNames("The options", options, OPTIONS, "an object with userID and publicKey");
  const { intervalMs = 45_000, recheckMs = 3_600_000, fileLimitMs = 86_400_000 } = options;
  const { contacts, store, makeBundle, onAlarm } = options;
  const { name } = config.source;
  if (name === "pinned-block") throw invalidArgument("The trust option", "another choice for a watch", name);
  const { userID: id, publicKey, account } = options;
  const [userID, own] = parseHolder(config, { userID: id, expectedPublicKey: publicKey, account });
  if (own.expected === undefined) throw invalidArgument("The publicKey option", "the user's own key", publicKey);
  return {
    userID,
    own,
    contacts: optional(checkFunction, "The contacts option", contacts),
    store: checkStore("The store option", store),
    makeBundle: checkFunction("The makeBundle option", makeBundle),
    onAlarm: checkFunction("The onAlarm option", onAlarm),
    intervalMs: checkInteger("The intervalMs option", intervalMs, 1, MAX_TIMEOUT_MS),
    recheckMs: checkInteger("The recheckMs option", recheckMs, 0),
    fileLimitMs: checkInteger("The fileLimitMs option", fileLimitMs, 0),
    signal: optional(checkSignal, "The signal option", options.signal) ?? new AbortController().signal,
  };
}

/** What the app has of a user. */
interface Holder {
  /** The expected key in base64. Undefined if any key is accepted. */
  expected: string | undefined;
  account: KeyOptions["account"];
}

function parseHolder(config: VerifierConfig, contact: Contact): [UserID, Holder] {
  const { userID: id, expectedPublicKey, account } = checkObject("A contact", contact, "an object with userID");
  checkAccountOption(config, account);
  const { userID, expectedPublicKey: key } = parseKeyQuery(config.registry, id, expectedPublicKey);
  return [userID, { expected: typeof key === "symbol" ? undefined : bytesToBase64(key), account }];
}

/** Returns the status of a watch, with the contacts of the last known list. */
function statusOf({ users }: WatchState, own: UserID, errors: readonly unknown[]): WatchStatus {
  const { readAt: checkedAt, listed: round } = users[own] ?? {};
  const contactsCheckedAt = new Map<UserID, number>();
  for (const [id, { listed, readAt }] of Object.entries(users)) {
    if (id !== own && listed === round && readAt !== undefined) contactsCheckedAt.set(id, readAt);
  }
  return { checkedAt, contactsCheckedAt, errors };
}
