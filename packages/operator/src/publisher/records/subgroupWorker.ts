/** The script of a thread that checks public keys. */
import { ArgumentError } from "keyroot/internal/errors";
import { checkNewPublicKey, PUBLIC_KEY_BYTES } from "keyroot/internal/identity";
import { serveRequests } from "../../threads/serveRequests.ts";

/**
 * Returns the positions of the keys that registration would reject.
 * @param keys the public keys, with 105 bytes per key
 */
serveRequests<number[]>((keys: Uint8Array) => {
  const refused: number[] = [];
  for (let i = 0; i * PUBLIC_KEY_BYTES < keys.length; i++) {
    try {
      checkNewPublicKey(keys.subarray(i * PUBLIC_KEY_BYTES, (i + 1) * PUBLIC_KEY_BYTES));
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error;
      refused.push(i);
    }
  }
  return refused;
});
