/**
 * The app of a user's contact, in a separate process. It reads requests from standard input, one JSON object per line, calls
 * the public verifier, and writes the results in the same order. It knows only the addresses in the requests.
 */
import { createInterface } from "node:readline";
import { KeyrootError, type VerifyOptions, verifyPublicKey } from "keyroot";

/** A key to verify. */
export interface VerifyRequest extends Pick<VerifyOptions, "chainId" | "contract" | "merkleUrl"> {
  rpc: string;
  userID: string;
  /** The key that the server sent, in base64. */
  expectedPublicKey: string;
}

/** The verifier's result: the root, or the code and message of its error. */
export type VerifyResponse = { root: string } | { code: string; message: string };

for await (const line of createInterface({ input: process.stdin })) {
  const { userID, ...options } = JSON.parse(line) as VerifyRequest;
  process.stdout.write(`${JSON.stringify(await verify(userID, options))}\n`);
}

async function verify(userID: string, options: VerifyOptions): Promise<VerifyResponse> {
  try {
    const { root } = await verifyPublicKey(userID, options);
    return { root };
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    return { code: error.code, message: error.message };
  }
}
