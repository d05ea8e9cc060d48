import { type KeyrootError, TransportError, VerificationError } from "../errors.ts";
import { MAX_AHEAD_MS } from "../ethereum/blockAge.ts";
import type { Evidence } from "../evidence.ts";
import type { SafeStore } from "../store/access.ts";
import type { UserID } from "../identity/userID.ts";
import {
  type CachedKey,
  forgetKey,
  isPermanent,
  loadCachedKey,
  loadNote,
  meetsTrust,
  storeKey,
  recordOf,
  storeNote,
} from "./cache.ts";
import type { ContactSlot } from "./contactAccounts.ts";
import { type CachedAnswer, contradicts } from "./equivocation.ts";
import type { KeyQuery } from "./options.ts";
import type { CachedVerification, VerifiedKey } from "./verifiedKey.ts";
import type { VerifierConfig } from "./verifierConfig.ts";

/** A contact whose root the contract must show: its user, or the slot of its account's newest key. */
export interface Target {
  userID: UserID;
  query: KeyQuery;
  slot: ContactSlot | undefined;
}

/** What the cache has of a user. */
export interface StoredKey {
  cached: CachedKey | undefined;
  /**
   * The stored key, if it is the expected key, has no alarm, and was verified with evidence as strong as the verifier's
   * trust requires.
   */
  trusted: VerifiedKey | undefined;
  /** The code of an alarm about the user. The stored key is not used until a successful verification ends the alarm. */
  alarm: string | undefined;
}

/** The errors that show that the chain no longer confirms what it confirmed before. */
const ALARMS = /^(?:EQUIVOCATION|SUCCESSOR_UNPROVEN|CODE_HASH_MISMATCH)$/;
/**
 * The alarm about a user whose root the auditors found to be damaged. It ends when the auditors' statement no longer
 * lists this root.
 */
const DAMAGED = "DAMAGED";

/** Opens the verified keys in a verifier's cache, for one call. @param names the names of the call's endpoints */
export function openStoredKeys(
  { source, now, cache, verifyAccountFile }: VerifierConfig,
  store: SafeStore,
  names: readonly string[],
) {
  const withAge = (key: VerifiedKey, { storedAt }: CachedKey): VerifiedKey & { cached: CachedVerification } => ({
    ...key,
    cached: { checkedAt: storedAt, ageMs: Math.max(0, now() - storedAt) },
  });
  return {
    async load(target: Target): Promise<StoredKey> {
      const { query } = target;
      const [cached, alarm] = await Promise.all([
        loadCachedKey(store, query),
        loadNote(store, ownerOf(target), "alarm"),
      ]);
      const isTrusted = cached && !alarm && (await meetsTrust(cached, query, source, names));
      return { cached, trusted: isTrusted ? recordOf(query, cached) : undefined, alarm };
    },
    /**
     * Returns a stored key if no new answer of the chain can change it. The key of an account is never returned here,
     * because only the chain shows whether the account has a newer key.
     */
    findPermanent({ slot }: Target, { cached, trusted }: StoredKey): VerifiedKey | undefined {
      return !slot && cached && trusted && isPermanent(cached, source, now()) ? withAge(trusted, cached) : undefined;
    },
    /**
     * Returns a stored key that the chain confirmed earlier, if `error` shows that the chain cannot be read now. The
     * key of an account may have been replaced since, so it is returned only if the app has set `maxOfflineMs`.
     */
    findOffline({ cached, trusted }: StoredKey, error: unknown): VerifiedKey | undefined {
      const isOffline = error instanceof TransportError && error.code !== "ABORTED";
      // A clock that was set back would hide the key's age.
      if (!isOffline || !cached || !trusted || cached.storedAt > now() + MAX_AHEAD_MS) return undefined;
      const key = withAge(trusted, cached);
      const { maxOfflineMs = verifyAccountFile ? -1 : Infinity } = cache ?? {};
      return key.cached.ageMs <= maxOfflineMs ? { ...key, cached: { ...key.cached, offline: error } } : undefined;
    },
    /**
     * Compares a new answer with the stored one.
     * @returns the stored answer if they differ
     * @throws VerificationError EQUIVOCATION
     */
    async compare({ query, slot }: Target, { cached }: StoredKey, root: string | undefined, evidence: Evidence) {
      if (!cached || !contradicts(query, cached, root, evidence)) return undefined;
      await forgetKey(store, query);
      if (slot) await storeNote(store, slot.account, "account", "");
      const earlier: CachedAnswer = { root: cached.root, evidence: cached.evidence, final: cached.final };
      return earlier;
    },
    /**
     * Stores a verified key in the background, and ends its alarm. A damaged key is stored only to compare later answers
     * with it. Unlike keys, alarms that begin are stored before the outcome is reported: `compare` and `noteError`.
     */
    save(target: Target, key: VerifiedKey, { cached, alarm }: StoredKey, sources: CachedKey["sources"]) {
      const { query, slot } = target;
      void storeKey(store, query, source, key, cached, { sources, storedAt: now() });
      if (slot) void storeNote(store, slot.account, "account", slot.file, true);
      const newAlarm = key.evidence.damage && DAMAGED;
      if (newAlarm !== alarm) void storeNote(store, ownerOf(target), "alarm", newAlarm ?? "", true);
    },
    /**
     * Records that the chain shows no key of a user. Only the time of the first record is kept. With a later time, the
     * user would be treated as new again and again.
     * @returns the time of the first record in ms since 1970
     */
    async noteAbsence({ query }: Target): Promise<number> {
      const noted = Number(await loadNote(store, query, "absent"));
      if (noted > 0 && noted <= now()) return noted;
      void storeNote(store, query, "absent", String(now()), true);
      return now();
    },
    /**
     * Records an alarm about a user if an error casts doubt on the stored key. The stored key is then not used until
     * the chain confirms it again.
     * @param isContradiction true if the stored answer contradicts the answer that led to the error
     */
    async noteError(target: Target, error: KeyrootError, isContradiction: boolean) {
      if (error instanceof VerificationError && (isContradiction || ALARMS.test(error.code)))
        await storeNote(store, ownerOf(target), "alarm", error.code);
    },
  };
}

/** The user to whom alarms belong: the account of a slot. */
function ownerOf({ query, slot }: Target): KeyQuery {
  return slot?.account ?? query;
}
