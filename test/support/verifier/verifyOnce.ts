import {
  type Contact,
  type ContactListOptions,
  type ContactOutcome,
  type KeyOptions,
  oneEndpoint,
  type Trust,
  type UserID,
  type VerifiedKey,
  type Verifier,
  type VerifierOptions,
} from "keyroot";
import { makeVerifier } from "../../../packages/keyroot/src/createVerifier.ts";
import { parseVerifierOptions } from "../../../packages/keyroot/src/verifier/verifierConfig.ts";

/** The options of a verifier that a test needs. `trust` is one endpoint by default, and `now` replaces the clock. */
export type TestOptions = Omit<VerifierOptions, "trust"> & {
  trust?: Trust | undefined;
  now?: (() => number) | undefined;
};

export function verifierAt({ now = Date.now, trust = oneEndpoint(), ...options }: TestOptions): Verifier {
  return makeVerifier({ ...parseVerifierOptions({ ...options, trust }), now });
}

/** The options of a verifier and of one verification. */
export type OnceOptions = TestOptions & KeyOptions;

/** Verifies one key with a new verifier. */
export async function verifyOnce(
  userID: UserID,
  { expectedPublicKey, knownSince, signal, ...options }: OnceOptions,
): Promise<VerifiedKey> {
  return verifierAt(options).verify(userID, { expectedPublicKey, knownSince, signal });
}

/** The options of a verifier and of one contact list. */
export type ListOptions = TestOptions & ContactListOptions;

/** Verifies a contact list with a new verifier. */
export async function verifyListOnce(
  contacts: readonly Contact[],
  { onOutcome, signal, ...options }: ListOptions,
): Promise<ContactOutcome[]> {
  return verifierAt(options).verifyMany(contacts, { onOutcome, signal });
}
