import type { KeyType } from "../keyTypes/keyType.ts";
import type { PossessionMethod } from "./method.ts";
import { possessionTranscript } from "./statement.ts";

/** Whether a signature of a message is valid. Throws for malformed signatures. */
type Verify = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean;

/**
 * Makes the proof of possession of keys that sign: a signature of the transcript, which contains the service's nonce.
 */
export function signing(keyType: KeyType, verify: Verify): PossessionMethod {
  return {
    makeChallenge({ publicKey }) {
      keyType.check(publicKey);
      return { ephemeralKey: new Uint8Array(), response: undefined };
    },
    isSignature(statement, signature) {
      const transcript = possessionTranscript(statement);
      try {
        return verify(signature, transcript, statement.publicKey);
      } catch {
        return false;
      }
    },
  };
}
