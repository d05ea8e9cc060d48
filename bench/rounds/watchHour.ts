import { type KeyRecord, type VerifierOptions, createVerifier } from "keyroot";
import { makeBundle } from "keyroot/bundle";
import { countBytes } from "../../test/support/servers/rounds.ts";

/** The number of times that a watch reads the chain in one hour: in the first round after each epoch of 384 seconds. */
const ROUNDS = 10;

/**
 * Returns the bytes of all responses to a watch in its first hour and in its second hour. In the second hour, the root
 * and the file of each contact are due once. The rounds run without pauses.
 */
export async function bytesPerHour(
  optionsOf: (fetch: typeof globalThis.fetch) => VerifierOptions,
  [own, ...contacts]: readonly KeyRecord[],
): Promise<{ first: number; following: number }> {
  if (own === undefined) throw new Error("There are no users.");
  let bytes = 0;
  const fetch = countBytes((received) => (bytes += received));
  const stored = new Map<string, string>();
  const list = contacts.map(({ userID, pubKey }) => ({ userID, expectedPublicKey: pubKey }));
  const runHour = async (recheckMs: number) => {
    bytes = 0;
    using end = new DisposableStack();
    const app = new AbortController();
    end.defer(() => {
      app.abort();
    });
    const watch = await createVerifier(optionsOf(fetch)).watch({
      ...{ userID: own.userID, publicKey: own.pubKey, contacts: () => list, store: stored, makeBundle },
      ...{ intervalMs: 3_600_000, recheckMs, signal: app.signal },
      onAlarm: ({ code }) => {
        throw new Error(`The watch raised ${code}.`);
      },
    });
    for (let i = 0; i < ROUNDS; i++) {
      const { errors } = await watch.check();
      if (errors.length > 0) throw errors[0];
    }
    return bytes;
  };
  const start = performance.now();
  const first = await runHour(3_600_000);
  return { first, following: await runHour(Math.round(performance.now() - start)) };
}
