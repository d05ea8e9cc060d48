import { loadModule } from "./engine/loadModule.ts";
import type { UserID } from "./identity/userID.ts";
import { checkNames } from "./input/options.ts";
import type { Watch, WatchKeysOptions } from "./watch/watch.ts";
import { type Contact, copyContacts } from "./verifier/contacts.ts";
import type { KeyOptions, VerifierOptions } from "./verifier/options.ts";
import { parseVerifierOptions, type VerifierConfig } from "./verifier/verifierConfig.ts";
import type { ContactListOptions, ContactOutcome } from "./verifier/verifyContacts.ts";
import type { VerifiedKey } from "./verifier/verifiedKey.ts";
import { verifyKey } from "./verifier/verifyKey.ts";

/** A verifier of public keys. All its functions use the options of `createVerifier`. */
export interface Verifier {
  /**
   * Verifies a user's public key against the root that the contract stores for the user (docs/specification.md,
   * "Public-key verification procedure").
   *
   * The verifier reads the root, fetches the Merkle-tree file that belongs to it, and computes the whole tree again.
   * Exactly one record in the file must belong to the user. The published key is returned only if all checks succeed
   * and the key equals `expectedPublicKey`. If the call throws any error, do not use the key.
   *
   * The result's `evidence` shows how the root was verified. The evidence is never weaker than the `trust` option
   * requires.
   * @param userID 32 lowercase characters of zBase32
   * @throws VerificationError if the key is not verified. `step`, `code`, `expected` and `actual` show the reason.
   * @throws TransportError if an endpoint or the file host does not respond. The key is then neither verified nor
   * refuted.
   * @throws ArgumentError if the options are invalid. No request was sent.
   */
  verify: (userID: UserID, options: KeyOptions) => Promise<VerifiedKey>;
  /**
   * Verifies the keys of a contact list. Each key is checked as in `verify`, but the contacts share their requests. All
   * roots are read at the same block, and each file is fetched and checked only once.
   *
   * If the verifier has a cache, a new answer of the chain can contradict an earlier one. Then one of the two answers
   * is false, or the earlier answer came from a block that the chain has replaced since. The outcome depends on the
   * evidence:
   * - If the earlier answer has the stronger evidence and comes from a finalized block, the contact's outcome is the
   *   error EQUIVOCATION. The error contains the evidence for both answers.
   * - Otherwise, the verifier accepts the new answer and removes the earlier one from the cache. The outcome's
   *   `contradicts` field then contains the earlier answer.
   * @returns an outcome for each contact, in the order of the list
   * @throws ArgumentError if the list or the options are invalid. No request was sent.
   * @example
   * const verifier = createVerifier({ ...options, cache: new Map() });
   * const outcomes = await verifier.verifyMany([{ userID, expectedPublicKey: keyFromServer }]);
   * for (const outcome of outcomes) {
   *   console.log(outcome.userID, "verified" in outcome ? outcome.verified.publicKey : outcome.error.code);
   * }
   */
  verifyMany: (contacts: readonly Contact[], options?: ContactListOptions) => Promise<ContactOutcome[]>;
  /**
   * Checks the user's own key and the contacts' keys in the background until `signal` aborts (docs/watching.md). The
   * checks run in only one tab at a time, read finalized blocks, and require the same evidence as the verifier.
   * @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID, BASE64_INVALID, PUBLIC_KEY_LENGTH
   * @throws EnvironmentError ENVIRONMENT_UNSUPPORTED without Web Locks in a page, or without IndexedDB for its store
   */
  watch: (options: WatchKeysOptions) => Promise<Watch>;
}

const KEY_OPTIONS: readonly (keyof KeyOptions)[] = ["expectedPublicKey", "account", "knownSince", "signal"];
const LIST_OPTIONS: readonly (keyof ContactListOptions)[] = ["onOutcome", "signal"];

/**
 * Creates a verifier. All options are checked immediately, and no request is sent.
 * @throws ArgumentError ARGUMENT_INVALID, BUILTIN_REPLACED
 * @example
 * const verifier = createVerifier({
 *   rpc: ["https://rpc.example", "https://rpc.example.org"],
 *   chainId: 1,
 *   contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
 *   merkleUrl: "https://files.example",
 *   trust: endpoints({ required: 2 }),
 * });
 * const { publicKey } = await verifier.verify(userID, { expectedPublicKey: keyFromServer });
 */
export function createVerifier(options: VerifierOptions): Verifier {
  return makeVerifier(parseVerifierOptions(options));
}

/** Makes a verifier of checked options. */
export function makeVerifier(config: VerifierConfig): Verifier {
  return {
    async verify(userID, options = {} as KeyOptions) {
      const { signal, ...contact } = checkNames("The options", options, KEY_OPTIONS);
      if (!config.cache && !config.verifyAccountFile) return verifyKey(config, { ...contact, userID }, signal);
      const copies = copyContacts([{ ...contact, userID }]);
      return (await loadLists()).verifyContact(config, copies, signal);
    },
    async verifyMany(contacts, options = {}) {
      const copies = copyContacts(contacts);
      return (await loadLists()).verifyContacts(config, copies, checkNames("The options", options, LIST_OPTIONS));
    },
    async watch(options) {
      const { watch } = await loadModule(() => import("./watch/watch.ts"));
      return watch(config, options);
    },
  };
}

/** Loads the code for caches and contact lists on demand, so that apps that only verify single keys stay small. */
const loadLists = () => loadModule(() => import("./verifier/verifyContacts.ts"));
