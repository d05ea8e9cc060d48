import type { StrictOptions } from "./compileTimeChecks.ts";
import { type Contact, copyContacts } from "./contacts.ts";
import { VERIFY_OPTIONS, type VerifyOptions } from "./options.ts";
import { parseVerifierOptions } from "./verifierConfig.ts";
import type { ContactListOptions, ContactOutcome } from "./verifyContacts.ts";

/** The options of `verifyMany`: the options of `verifyPublicKey`, which apply to all contacts, and the cache. */
export type VerifyManyOptions = Omit<VerifyOptions, "expectedPublicKey" | "knownSince"> & ContactListOptions;

const CONTACT = ["expectedPublicKey", "knownSince"];

/**
 * Verifies the keys of a contact list. Verifies each key as `verifyPublicKey` does, with shared requests. Reads all
 * roots at the same block, and fetches and checks each file only once.
 *
 * With a cache, a new answer can contradict an earlier answer. In this case, one of the answers is false, or the chain
 * replaced the earlier block before the block was final. If the earlier evidence is final and stronger, the outcome is
 * the EQUIVOCATION error with the evidence for both answers. In all other cases, the function accepts the new answer
 * and deletes the earlier answer from the cache. The outcome's `contradicts` field then contains the earlier answer.
 * @returns an outcome for each contact, in the order of the list
 * @throws ArgumentError if the list or the options are invalid. In this case, no request was sent.
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
  const names = [...VERIFY_OPTIONS.filter((name) => !CONTACT.includes(name)), "cache", "recheckMs"];
  const config = parseVerifierOptions(options, names);
  const copies = copyContacts(contacts);
  // This module is loaded on demand, because many apps verify only single keys.
  const { verifyContacts } = await import("./verifyContacts.ts");
  return verifyContacts(config, copies, options);
}
