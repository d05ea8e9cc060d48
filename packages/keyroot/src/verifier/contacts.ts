import type { UserID } from "../identity/userID.ts";
import { checkObject, invalidArgument } from "../input/options.ts";
import type { KeyOptions } from "./options.ts";
import { isBytes } from "../input/isBytes.ts";

/** A contact to verify, and the key that a server returned for this contact. */
export type Contact = Pick<KeyOptions, "expectedPublicKey" | "knownSince"> & { userID: UserID };

/**
 * Checks the form of a contact list, and copies the list. The caller may change the original list during the
 * verification.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function copyContacts(contacts: readonly Contact[]): Contact[] {
  if (!Array.isArray(contacts)) throw invalidArgument("The list of contacts", "an array of { userID }", contacts);
  const copies: Contact[] = [];
  for (const contact of contacts as readonly Contact[]) {
    const path = `contacts[${copies.length}]`;
    const { userID, expectedPublicKey: key, knownSince } = checkObject(path, contact, "an object with userID");
    copies.push({ userID, expectedPublicKey: isBytes(key) ? new Uint8Array(key) : key, knownSince });
  }
  return copies;
}
