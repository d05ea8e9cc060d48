import { createVerifier, TransportError, VerificationError } from "keyroot";
import { config } from "./config.js";
import { encrypt } from "./encrypt.js";

const verifier = createVerifier(config);

/**
 * Encrypts a message, if the key that the server returned is the published one.
 * @returns what to show to the user
 */
export async function send(userID, keyFromServer, message) {
  try {
    const { publicKey } = await verifier.verify(userID, { expectedPublicKey: keyFromServer });
    // Only a verified key arrives here. Use this one, not the server's text.
    return `Sent: ${await encrypt(publicKey, message)}.`;
  } catch (error) {
    if (error instanceof VerificationError) return `Not sent. This is not the published key (${error.code}).`;
    if (error instanceof TransportError)
      return `Not sent. The key could not be verified now (${error.code}). Try again later.`;
    throw error;
  }
}
