import { createVerifier, describeError } from "keyroot";
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
    if (error.advice === "developer" || error.advice === undefined) throw error;
    const { title, text } = describeError(error);
    return `Not sent. ${title}: ${text}`;
  }
}
