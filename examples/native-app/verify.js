import "./host.js";
import "abort-controller/polyfill";
import { createVerifier, endpoints, oneEndpoint, ownNode, pinnedBlock } from "keyroot";

/** The choices of trust that this app offers. In the options, a choice is a list of its name and its settings. */
const CHOICES = { endpoints, oneEndpoint, ownNode, pinnedBlock };

/**
 * Verifies a user's key. The app calls this function.
 * @param options the options of `createVerifier`, as JSON. `trust` is a list such as ["endpoints", { "required": 2 }].
 * @param userID 32 characters of zBase32
 * @param expectedPublicKey the key that the app received from its server, in base64 or PEM
 * @returns a promise for JSON: { publicKey, evidence } with the key in base64, or { code, message, advice } after an
 *   error, when the app must not use the key
 */
globalThis.verifyKey = async (options, userID, expectedPublicKey) => {
  try {
    const {
      trust: [name, ...settings],
      ...others
    } = JSON.parse(options);
    const verifier = createVerifier({ ...others, trust: CHOICES[name](...settings) });
    const { record, evidence } = await verifier.verify(userID, { expectedPublicKey });
    return JSON.stringify({ publicKey: record.pubKey, evidence });
  } catch (error) {
    const { code = "UNEXPECTED", message, advice = "developer" } = error;
    return JSON.stringify({ code, message, advice });
  }
};
