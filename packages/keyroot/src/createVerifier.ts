import { loadModule } from "./engine/loadModule.ts";
import type { UserID } from "./identity/userID.ts";
import { checkNames, checkObject } from "./input/options.ts";
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
   * "Public-key verification procedure"). Reads the root, fetches the root's file, computes the tree again, and requires
   * exactly one record of the user. Returns the published key only if all checks succeed and it equals
   * `expectedPublicKey`. Do not use a key after an error.
   *
   * `evidence` shows how the root was verified. It is never weaker than the `trust` option requires.
   * @param userID 32 lowercase characters of zBase32
   * @throws VerificationError if the key is not verified. `step`, `code`, `expected` and `actual` show the reason.
   * @throws TransportError if an endpoint or the file host does not respond. In this case, the key is neither verified
   * nor refuted.
   * @throws ArgumentError if the options are invalid. In this case, no request was sent.
   */
  verify: (userID: UserID, options: KeyOptions) => Promise<VerifiedKey>;
  /**
   * Verifies the keys of a contact list. Verifies each key as `verify` does, with shared requests. Reads all roots at
   * the same block, and fetches and checks each file only once.
   *
   * With a cache, a new answer can contradict an earlier answer. In this case, one of the answers is false, or the chain
   * replaced the earlier block before the block was final. If the earlier evidence is final and stronger, the outcome is
   * the EQUIVOCATION error with the evidence for both answers. In all other cases, the function accepts the new answer
   * and deletes the earlier answer from the cache. The outcome's `contradicts` field then contains the earlier answer.
   * @returns an outcome for each contact, in the order of the list
   * @throws ArgumentError if the list or the options are invalid. In this case, no request was sent.
   * @example
   * const outcomes = await verifier.verifyMany([{ userID, expectedPublicKey: keyFromServer }], { cache: new Map() });
   * for (const outcome of outcomes) {
   *   console.log(outcome.userID, "verified" in outcome ? outcome.verified.publicKey : outcome.error.code);
   * }
   */
  verifyMany: (contacts: readonly Contact[], options?: ContactListOptions) => Promise<ContactOutcome[]>;
  /**
   * Checks the user's own key and the contacts' keys in the background until `signal` aborts (docs/watching.md). Only
   * one tab at a time runs these checks. They read finalized blocks, and require the same evidence as the verifier.
   * @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID, BASE64_INVALID, PUBLIC_KEY_LENGTH
   */
  watch: (options: WatchKeysOptions) => Promise<Watch>;
}

const KEY_OPTIONS: readonly (keyof KeyOptions)[] = ["expectedPublicKey", "account", "knownSince", "signal"];
const LIST_OPTIONS: readonly (keyof ContactListOptions)[] = ["onOutcome", "signal"];

/**
 * Creates a verifier. Checks all options immediately, and sends no request.
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
    async verify(userID, options) {
      const { signal, ...contact } = checkCall(options, KEY_OPTIONS);
      if (!config.cache && !config.verifyAccountFile) return verifyKey(config, { ...contact, userID }, signal);
      const copies = copyContacts([{ ...contact, userID }]);
      return (await loadLists()).verifyContact(config, copies, signal);
    },
    async verifyMany(contacts, options = {}) {
      const copies = copyContacts(contacts);
      return (await loadLists()).verifyContacts(config, copies, checkCall(options, LIST_OPTIONS));
    },
    async watch(options) {
      const { watch } = await loadModule(() => import("./watch/watch.ts"));
      return watch(config, options);
    },
  };
}

/** Loads the code for the cache and for lists on demand, so apps that verify only single keys stay small. */
const loadLists = () => loadModule(() => import("./verifier/verifyContacts.ts"));

function checkCall<T extends object>(options: T, names: readonly string[]): T {
  return checkNames("The options", checkObject("The options", options), names);
}
