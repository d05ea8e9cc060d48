/**
 * The app of a user's contact, in a separate process. It reads requests from standard input, one JSON object per line. It
 * calls the public verifier, and writes the results in the same order. It has only the addresses in the requests.
 */
import { createInterface } from "node:readline";
import { createVerifier, KeyrootError, type VerifyOptions } from "keyroot";

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
  process.stdout.write(`${JSON.stringify(await verify(JSON.parse(line) as VerifyRequest))}\n`);
}

async function verify({ userID, expectedPublicKey, ...options }: VerifyRequest): Promise<VerifyResponse> {
  try {
    const { root } = await createVerifier(options).verify(userID, { expectedPublicKey });
    return { root };
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    return { code: error.code, message: error.message };
  }
}
