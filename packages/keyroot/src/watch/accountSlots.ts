import { KeyrootError } from "../errors.ts";
import { ANY_KEY } from "../identity/compareKey.ts";
import type { UserID } from "../identity/userID.ts";
import { invalidArgument } from "../input/options.ts";
import { decodeMerkleTreeRoot } from "../registry/answers.ts";
import type { SafeStore } from "../store/access.ts";
import { storeNote } from "../verifier/cache.ts";
import { type AccountFiles, type ContactSlot, findContactSlots } from "../verifier/contactAccounts.ts";
import type { KeyOptions, KeyQuery } from "../verifier/options.ts";
import { readRoot } from "../verifier/readRoot.ts";
import type { RootReading } from "../verifier/readRootAtBlock.ts";
import { verifyAnswers } from "../verifier/verdict.ts";
import type { VerifierConfig } from "../verifier/verifierConfig.ts";
import { accountFileBytes, findSlot, isMissing } from "../verifier/accountSlot.ts";
import type { Condition } from "./alarm.ts";
import { isoTime } from "./alarmConditions.ts";
import type { StepRunner } from "./checkUsers.ts";
import { sortByTurn } from "./watchState.ts";
import { applyAnswer, publishedOf, type UserToCheck, type WatchedUserState } from "./watchedUser.ts";

interface AccountOptions {
  forEach: StepRunner;
  /**
   * Opens the store for the newest account files with which the watch has read a user's slots. It is opened again for
   * each kind of file, so that a file host that delays one kind does not use up the time for reading the stored files.
   */
  openStore: () => SafeStore;
  /** What the app has of each user. */
  keys: ReadonlyMap<UserID, Pick<KeyOptions, "account">>;
  /** The number of this round. */
  round: number;
  /** The current time in ms since 1970. */
  time: number;
}

/** A user with the slot that an account file names. */
interface FoundSlot {
  user: UserToCheck;
  slot: ContactSlot;
}

/** A user with the slots of the account, and their roots. */
interface SlotReading extends FoundSlot {
  reading: RootReading;
  /** The root of the slot after the last statement, which should have none. */
  nextRoot: string | undefined;
}

/**
 * The number of requests that browsers send to a host at the same time. If the host does not answer these requests, it
 * delays the others, so in the next step, the users whose files were requested first come last. Other users keep their
 * places. If they moved back, too, they could come last in each step that needs a file.
 */
const FILES_AT_ONCE = 6;

/**
 * Reads two roots of each user at a finalized block, and updates the users' states. They are the roots of the newest
 * known slot and of the next slot. If the next slot has a root, the file host may have a newer statement, so its
 * account files are read, too. The files and the roots are read in separate steps, so that a file host that does not
 * answer about a user delays only this user's check.
 * @returns the users whose roots could be read
 */
export async function readAccounts(
  config: VerifierConfig,
  users: readonly UserToCheck[],
  { forEach, openStore, keys, round, time }: AccountOptions,
): Promise<UserToCheck[]> {
  const read = async (some: readonly UserToCheck[], files: AccountFiles): Promise<SlotReading[]> => {
    const cache = openStore();
    const slots: FoundSlot[] = [];
    for (const [, user] of some) user.accountTurn ??= round;
    const queue = sortByTurn(some, "accountTurn");
    const late = new Set(queue.slice(0, FILES_AT_ONCE));
    await forEach(queue, async (user, servers) => {
      const [userID] = user;
      const query: KeyQuery = { ...config.registry, userID, expectedPublicKey: ANY_KEY };
      const contact = { query, account: keys.get(userID)?.account };
      const [slot] = await findContactSlots(config, [contact], { servers, cache, files });
      const isError = slot instanceof KeyrootError;
      if (isError && !(files === "next" && isMissing(slot))) throw slot;
      late.delete(user);
      if (slot && !isError) slots.push({ user, slot });
    });
    for (const [, user] of late) user.accountTurn = round + 1;
    const readings: SlotReading[] = [];
    await forEach(slots, async ({ user, slot }, servers) => {
      const source = { ...config.source, tag: "finalized" } as const;
      const reading = await readRoot(slot.query, source, servers, config.now);
      verifyAnswers(slot.query, reading.answers);
      readings.push({ user, slot, reading, nextRoot: decodeMerkleTreeRoot(reading.answers.nextRoot) });
    });
    return readings;
  };
  const known = await read(users, "known");
  const newest = new Map(known.map((one) => [one.user, one]));
  for (const from of ["next", "hosted"] as const) {
    const filled = [...newest.values()].filter(({ nextRoot }) => nextRoot !== undefined).map(({ user }) => user);
    if (filled.length === 0) break;
    for (const one of await read(filled, from)) if (one.nextRoot === undefined) newest.set(one.user, one);
  }
  const store = openStore();
  const answered: UserToCheck[] = [];
  for (const { user, slot, reading, nextRoot } of newest.values()) {
    const { answers, evidence } = reading;
    const { key, account, file } = slot;
    const state = user[1];
    useSlot(state, slot);
    const root = verifyAnswers(slot.query, answers);
    applyAnswer(state, root, evidence, time);
    const watched = { ...state.slot, id: key.slotID, number: key.number, authorized: key.publicKey };
    state.slot = watched;
    if (nextRoot === undefined) delete watched.next;
    else watched.next = { id: key.nextSlotID, number: key.nextNumber, root: nextRoot, evidence };
    // The clock may have been set back since.
    if (root === undefined) watched.unpublishedSince = Math.min(watched.unpublishedSince ?? time, time);
    else delete watched.unpublishedSince;
    const isVerified = state.publicKey === key.publicKey;
    if (root !== undefined && nextRoot === undefined && isVerified)
      void storeNote(store, account, "account", file, true);
    answered.push(user);
  }
  return answered;
}

/** Forgets what is known about another slot, because the user has changed the key. */
function useSlot(user: WatchedUserState, { key }: ContactSlot): void {
  if (user.slot === undefined || user.slot.id === key.slotID) return;
  const ofSlot: (keyof WatchedUserState)[] = [
    ...(["root", "publicKey", "evidence", "fileReadAt", "outage", "earlier", "gone", "slot"] as const),
  ];
  for (const name of ofSlot) Reflect.deleteProperty(user, name);
}

/**
 * Checks that the account file of the app's user authorizes the user's key. Without this check, a mistake in the app
 * would later look like a change of the key.
 */
export function checkOwnAccount(
  config: VerifierConfig,
  userID: UserID,
  { expected, account }: { expected: string | undefined; account: KeyOptions["account"] },
): void {
  if (account === undefined) return;
  const query: KeyQuery = { ...config.registry, userID, expectedPublicKey: ANY_KEY };
  const { key } = findSlot(config, query, accountFileBytes(account));
  if (key.publicKey !== expected)
    throw invalidArgument("The account option", `an account file that authorizes ${expected ?? "the key"}`, account);
}

/**
 * Returns the alarm conditions that exist only in registries with accounts.
 * @param limitMs maximum time in ms between an authorized change and its publication
 */
export function accountConditions(
  userID: UserID,
  user: WatchedUserState,
  { isOwn, limitMs, time }: { isOwn: boolean; limitMs: number; time: number },
): Condition[] {
  const { slot, publicKey = "" } = user;
  if (slot === undefined) return [];
  const conditions: Condition[] = [];
  const add = (code: Condition["code"], slotID: UserID, message: string, facts: Condition["facts"]) => {
    conditions.push({ code, id: `${code}:${slotID}`, message, slotID, facts });
  };
  const { number, authorized, next, unpublishedSince } = slot;
  const published = publishedOf(user);
  if (next !== undefined) {
    const { root, evidence } = next;
    const message = `The contract has the root ${root} for slot ${next.number} of the account ${userID}, but no known statement of the account authorizes a key for it.`;
    const facts = { ...(published && { published }), slot: next.number, now: { root, evidence } };
    add("SLOT_UNAUTHORIZED", next.id, message, facts);
  }
  if (published !== undefined && publicKey !== "" && publicKey !== authorized) {
    const message = `The published key ${publicKey} of slot ${number} is not the key ${authorized} that the account ${userID} authorized.`;
    add("SLOT_UNAUTHORIZED", slot.id, message, { expectedPublicKey: authorized, published, slot: number });
  }
  if (isOwn && unpublishedSince !== undefined && time - unpublishedSince >= limitMs) {
    const message = `The account ${userID} authorized key ${number}, but it is not published since ${isoTime(unpublishedSince)}.`;
    add("CHANGE_UNPUBLISHED", slot.id, message, { expectedPublicKey: authorized, slot: number });
  }
  return conditions;
}
