/** The script of a thread that checks public keys. */
import { ArgumentError } from "keyroot/internal/errors";
import { checkNewPublicKey, curve41417 } from "keyroot/internal/identity";
import { serveRequests } from "../../threads/serveRequests.ts";

/**
 * Returns the positions of the keys that registration would reject.
 * @param keys public keys of Curve41417, with 105 bytes per key
 */
serveRequests<number[]>((keys: Uint8Array) => {
  const refused: number[] = [];
  for (let i = 0; i * curve41417.length < keys.length; i++) {
    try {
      checkNewPublicKey(keys.subarray(i * curve41417.length, (i + 1) * curve41417.length));
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error;
      refused.push(i);
    }
  }
  return refused;
});
