import type { UserID } from "../identity/userID.ts";
import { checkObject, invalidArgument } from "../input/options.ts";
import type { KeyOptions } from "./options.ts";
import { isBytes } from "../input/values.ts";

/** A contact to verify, and the key that a server returned for it. */
export type Contact = Pick<KeyOptions, "expectedPublicKey" | "account" | "knownSince"> & { userID: UserID };

/**
 * Checks the form of a contact list and returns a copy of it. The caller may change the original list during the
 * verification.
 */
export function copyContacts(contacts: readonly Contact[]): Contact[] {
  if (!Array.isArray(contacts)) throw invalidArgument("The list of contacts", "an array of { userID }", contacts);
  const copies: Contact[] = [];
  for (const contact of contacts as readonly Contact[]) {
    const path = `contacts[${copies.length}]`;
    const { userID, expectedPublicKey, account, knownSince } = checkObject(path, contact, "an object with userID");
    copies.push({ userID, expectedPublicKey: copyBytes(expectedPublicKey), account: copyBytes(account), knownSince });
  }
  return copies;
}

function copyBytes<T>(value: T): T | Uint8Array {
  return isBytes(value) ? new Uint8Array(value) : value;
}
