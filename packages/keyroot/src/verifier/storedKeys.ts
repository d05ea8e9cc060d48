import { type KeyrootError, TransportError, VerificationError } from "../errors.ts";
import { MAX_AHEAD_MS } from "../ethereum/blockAge.ts";
import type { Evidence } from "../evidence.ts";
import type { Store } from "../store/store.ts";
import type { UserID } from "../identity/userID.ts";
import {
  type CachedKey,
  forgetKey,
  isPermanent,
  loadAlarm,
  loadCachedKey,
  meetsTrust,
  storeAccountFile,
  storeAlarm,
  storeKey,
  verifyCachedKey,
} from "./cache.ts";
import type { ContactSlot } from "./contactAccounts.ts";
import { type CachedAnswer, contradicts } from "./equivocation.ts";
import type { KeyQuery } from "./options.ts";
import type { VerifiedKey } from "./verifiedKey.ts";
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
  /** The key, if it is the expected one, was verified under at least the verifier's trust, and there is no alarm. */
  trusted: VerifiedKey | undefined;
  /** The code of an alarm about the user, until a verification succeeds. Until then, the stored key is not used. */
  alarm: string | undefined;
}

/** The errors that show that the chain no longer confirms what it confirmed before. */
const ALARMS = /^(?:EQUIVOCATION|SUCCESSOR_UNPROVEN|CODE_HASH_MISMATCH)$/;
/** The alarm about a user whose root the auditors found to be damaged. It stays until they no longer say so. */
const DAMAGED = "DAMAGED";

/** The verified keys in a verifier's cache, for one call. */
export class StoredKeys {
  readonly #config: VerifierConfig;
  readonly #store: Store;
  /** The names of the call's endpoints. */
  readonly #names: readonly string[];

  constructor(config: VerifierConfig, store: Store, names: readonly string[]) {
    this.#config = config;
    this.#store = store;
    this.#names = names;
  }

  async load(target: Target): Promise<StoredKey> {
    const { query } = target;
    const cached = await loadCachedKey(this.#store, query);
    const alarm = await loadAlarm(this.#store, ownerOf(target));
    const isTrusted = cached && !alarm && (await meetsTrust(cached, query, this.#config.source, this.#names));
    return { cached, trusted: isTrusted ? recordOf(query, cached) : undefined, alarm };
  }

  /** Returns a stored key that no new answer of the chain can change. Only the chain shows that an account has no newer key. */
  findPermanent({ slot }: Target, { cached, trusted }: StoredKey): VerifiedKey | undefined {
    const { source, now } = this.#config;
    if (slot || !cached || !trusted || !isPermanent(cached, source, now())) return undefined;
    return this.#withAge(trusted, cached, undefined);
  }

  /**
   * Returns a stored key that the chain confirmed earlier, because the chain cannot be read now. Without a limit of its
   * age, the key of an account could be outdated for any time, so it is not returned.
   */
  findOffline({ cached, trusted }: StoredKey, error: unknown): VerifiedKey | undefined {
    const { cache, verifyAccountFile } = this.#config;
    const isOffline = error instanceof TransportError && error.code !== "ABORTED";
    if (!isOffline || !cached || !trusted) return undefined;
    // A clock that was set back would hide the key's age.
    if (cached.storedAt > this.#config.now() + MAX_AHEAD_MS) return undefined;
    const key = this.#withAge(trusted, cached, error);
    const { maxOfflineMs = verifyAccountFile ? -1 : Infinity } = cache ?? {};
    const { ageMs = NaN } = key.cached ?? {};
    return ageMs <= maxOfflineMs ? key : undefined;
  }

  /** Compares a new answer with the stored one. @throws VerificationError EQUIVOCATION */
  async compare(
    { query, slot }: Target,
    { cached }: StoredKey,
    root: string | undefined,
    evidence: Evidence,
  ): Promise<{ contradicts?: CachedAnswer }> {
    if (!cached || !contradicts(query, cached, root, evidence)) return {};
    await forgetKey(this.#store, query);
    if (slot) await storeAccountFile(this.#store, slot.account, "");
    return { contradicts: { root: cached.root, evidence: cached.evidence, final: cached.final } };
  }

  /** Stores a verified key. A damaged one is stored only to compare later answers with it. */
  async save(
    target: Target,
    key: VerifiedKey,
    { cached, alarm }: StoredKey,
    sources: CachedKey["sources"],
  ): Promise<void> {
    const { source, now } = this.#config;
    const { query, slot } = target;
    await storeKey(this.#store, query, source, key, cached, { sources, storedAt: now() });
    if (slot) await storeAccountFile(this.#store, slot.account, slot.file);
    const newAlarm = key.evidence.damage && DAMAGED;
    if (newAlarm !== alarm) await storeAlarm(this.#store, ownerOf(target), newAlarm ?? "");
  }

  /**
   * Notes an alarm about a user, after which the stored key is not used before the chain confirms it again.
   * @param isContradiction true if the stored answer contradicts the one that the error is about
   */
  async noteError(target: Target, error: KeyrootError, isContradiction: boolean): Promise<void> {
    if (!(error instanceof VerificationError) || !(isContradiction || ALARMS.test(error.code))) return;
    await storeAlarm(this.#store, ownerOf(target), error.code);
  }

  #withAge(key: VerifiedKey, { storedAt }: CachedKey, offline: KeyrootError | undefined): VerifiedKey {
    const cached = { checkedAt: storedAt, ageMs: Math.max(0, this.#config.now() - storedAt) };
    return { ...key, cached: offline ? { ...cached, offline } : cached };
  }
}

/**
 * Returns the cached key if it equals the expected key. Returns undefined for any other key, so the caller reads the
 * chain again.
 */
export function recordOf(query: KeyQuery, cached: CachedKey): VerifiedKey | undefined {
  try {
    return verifyCachedKey(query, cached);
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}

/** The user to whom alarms belong: the account of a slot. */
function ownerOf({ query, slot }: Target): KeyQuery {
  return slot?.account ?? query;
}
