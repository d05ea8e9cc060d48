import type { UserID } from "../identity/userID.ts";
import { checkNames, checkObject } from "../input/options.ts";
import type { Watch, WatchKeysOptions } from "../watch/watch.ts";
import type { StrictOptions } from "./compileTimeChecks.ts";
import { type Contact, copyContacts } from "./contacts.ts";
import { VERIFY_OPTIONS, type VerifyOptions } from "./options.ts";
import { parseVerifierOptions } from "./verifierConfig.ts";
import type { ContactListOptions, ContactOutcome } from "./verifyContacts.ts";
import { type KeyOptions, type VerifiedKey, verifyKey } from "./verifyPublicKey.ts";

/** The options that apply to all calls of a verifier: contract, file host, required evidence and limits. */
export type VerifierOptions = Omit<VerifyOptions, keyof KeyOptions>;

/** A verifier of public keys. All functions of a verifier use the options of `createVerifier`. */
export interface Verifier {
  /**
   * Verifies a user's public key. Returns the published key only if this key equals `expectedPublicKey`. Do not use a
   * key after an error.
   * @throws the errors of `verifyPublicKey`
   */
  verify: (userID: UserID, options: KeyOptions) => Promise<VerifiedKey>;
  /** Verifies the keys of a contact list. @returns an outcome for each contact, as `verifyMany` does */
  verifyMany: (contacts: readonly Contact[], options?: ContactListOptions) => Promise<ContactOutcome[]>;
  /**
   * Checks the user's own key and the contacts' keys in the background until `signal` aborts (docs/watching.md). Only
   * one tab at a time runs these checks. The checks read finalized blocks, and require the same evidence as the
   * verifier.
   * @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID, BASE64_INVALID, PUBLIC_KEY_LENGTH
   */
  watch: (options: WatchKeysOptions) => Promise<Watch>;
}

const KEY_OPTIONS: readonly string[] = ["expectedPublicKey", "knownSince", "signal"];
const OPTIONS = VERIFY_OPTIONS.filter((name) => !KEY_OPTIONS.includes(name));
const LIST_OPTIONS = ["cache", "recheckMs", "signal"];

/**
 * Creates a verifier. Checks all options immediately, and sends no request.
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const verifier = createVerifier({
 *   rpc: "https://rpc.example",
 *   chainId: 1,
 *   contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
 *   merkleUrl: "https://files.example",
 * });
 * const { publicKey } = await verifier.verify(userID, { expectedPublicKey: keyFromServer });
 */
export function createVerifier<const Options extends VerifierOptions>(
  options: Options & StrictOptions<Options, VerifierOptions>,
): Verifier {
  const config = parseVerifierOptions(options, OPTIONS);
  return {
    async verify(userID, options) {
      return verifyKey(config, userID, checkCall(options, KEY_OPTIONS));
    },
    // The code for lists and watches is loaded on demand, so apps that verify only single keys stay small.
    async verifyMany(contacts, options = {}) {
      const copies = copyContacts(contacts);
      const { verifyContacts } = await import("./verifyContacts.ts");
      return verifyContacts(config, copies, checkCall(options, LIST_OPTIONS));
    },
    async watch(options) {
      const { watch } = await import("../watch/watch.ts");
      return watch(config, options);
    },
  };
}

function checkCall<T extends object>(options: T, names: readonly string[]): T {
  return checkNames("The options", checkObject("The options", options), names);
}
