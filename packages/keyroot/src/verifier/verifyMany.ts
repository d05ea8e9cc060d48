import type { StrictOptions } from "./strictOptions.ts";
import { type Contact, copyContacts } from "./contacts.ts";
import { VERIFY_OPTIONS, type VerifyOptions } from "./options.ts";
import { parseVerifierOptions } from "./verifierConfig.ts";
import type { ContactListOptions, ContactOutcome } from "./verifyContacts.ts";

/** Options of `verifyMany`: those of `verifyPublicKey` for all contacts, and `cache`. */
export type VerifyManyOptions = Omit<VerifyOptions, "expectedPublicKey" | "knownSince"> & ContactListOptions;

/** These are fields of each contact instead. */
const CONTACT = ["expectedPublicKey", "knownSince"];
const OPTIONS = [...VERIFY_OPTIONS.filter((name) => !CONTACT.includes(name)), "cache", "recheckMs"];

/**
 * Verifies the keys of a contact list, each as `verifyPublicKey` does. RPC calls share requests, all roots are read at
 * one block, and each file is fetched and rebuilt once.
 *
 * With a cache, an answer can contradict an earlier one: someone shows different answers to different clients, or, if the
 * earlier block was not final, the chain was reorganized. If the earlier evidence is final and stronger, the outcome is
 * the error EQUIVOCATION with both pieces of evidence. Otherwise the new answer counts, `contradicts` contains the
 * earlier one, and the cache forgets it.
 * @returns an outcome for each contact, in the order of the list
 * @throws ArgumentError if the list or the options are invalid; no request was sent
 * @example
 * const outcomes = await verifyMany([{ userID, expectedPublicKey: keyFromServer }], {
 *   rpc: "https://rpc.example",
 *   chainId: 1,
 *   contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
 *   merkleUrl: "https://files.example",
 *   block: "finalized",
 *   cache: new Map(),
 * });
 * for (const outcome of outcomes) {
 *   console.log(outcome.userID, "verified" in outcome ? outcome.verified.publicKey : outcome.error.code);
 * }
 */
export async function verifyMany<const Options extends VerifyManyOptions>(
  contacts: readonly Contact[],
  options: Options & StrictOptions<Options, VerifyManyOptions>,
): Promise<ContactOutcome[]> {
  const config = parseVerifierOptions(options, OPTIONS);
  const copies = copyContacts(contacts);
  // Loaded only when needed, as in `createVerifier`.
  const { verifyContacts } = await import("./verifyContacts.ts");
  return verifyContacts(config, copies, options);
}
