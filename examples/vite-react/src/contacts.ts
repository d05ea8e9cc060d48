import { type ContactOutcome, createVerifier } from "keyroot";
import { indexedDbStore } from "keyroot/store/indexeddb";
import { config, contactsUrl } from "./config";

export interface Contact {
  name: string;
  userID: string;
  /** The key that the server returned, in base64. Never encrypt with it before it is verified. */
  publicKey: string;
}

const store = indexedDbStore("contacts");
// Verified keys stay verified while the device is offline.
const verifier = createVerifier({ ...config, cache: store });

/** Returns the server's contacts, or the last ones that this device has of them. The keys are verified in both cases. */
export async function loadContacts(signal: AbortSignal): Promise<Contact[]> {
  try {
    const response = await fetch(contactsUrl, { signal });
    if (!response.ok) throw new Error(`The server answered with the status ${response.status}.`);
    const text = await response.text();
    await store.set("contacts", text);
    return JSON.parse(text);
  } catch (error) {
    const text = await store.get("contacts");
    if (signal.aborted || text === undefined) throw error;
    return JSON.parse(text);
  }
}

/** Verifies the contacts' keys. Encrypt only with the key in `verified` of an outcome. */
export async function verifyContacts(
  contacts: readonly Contact[],
  onOutcome: (outcome: ContactOutcome, index: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const queries = contacts.map(({ userID, publicKey }) => ({ userID, expectedPublicKey: publicKey }));
  await verifier.verifyMany(queries, { onOutcome, signal });
}
