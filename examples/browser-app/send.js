import { createVerifier } from "keyroot";
import { config } from "./config.js";
import { encrypt } from "./encrypt.js";

const verifier = createVerifier(config);

/**
 * Encrypts a message if the server's key is the published key.
 * @returns the text for the user
 */
export async function send(userID, keyFromServer, message) {
  try {
    const { publicKey } = await verifier.verify(userID, { expectedPublicKey: keyFromServer });
    // Use this verified key instead of the server's key.
    return `Sent: ${await encrypt(publicKey, message)}.`;
  } catch (error) {
    switch (error.advice) {
      case "warn":
        return `Not sent. This may not be the published key (${error.code}).`;
      case "wait":
        return `Not sent. The key is not published yet (${error.code}). Try again later.`;
      case "retry":
        return `Not sent. The key could not be verified now (${error.code}). Try again later.`;
      default:
        throw error;
    }
  }
}
