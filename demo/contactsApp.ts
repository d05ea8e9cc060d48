/**
 * The app of a user's friend, as a process of its own: reads questions from standard input, one JSON object a line, asks
 * the public verifier, and answers in the same order. It knows nothing of the stack but the addresses that it is given.
 */
import { createInterface } from "node:readline";
import { KeyrootError, type VerifyOptions, verifyPublicKey } from "keyroot";

/** What the app wants to know. */
export interface FriendsQuestion extends Pick<VerifyOptions, "chainId" | "contract" | "merkleUrl"> {
  rpc: string;
  userID: string;
  /** The key that the server handed out, in base64. */
  expectedPublicKey: string;
}

/** What the verifier told it: a root, or the code and the message of its refusal. */
export type FriendsAnswer = { root: string } | { code: string; message: string };

for await (const line of createInterface({ input: process.stdin })) {
  const { userID, ...options } = JSON.parse(line) as FriendsQuestion;
  process.stdout.write(`${JSON.stringify(await ask(userID, options))}\n`);
}

async function ask(userID: string, options: VerifyOptions): Promise<FriendsAnswer> {
  try {
    const { root } = await verifyPublicKey(userID, options);
    return { root };
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    return { code: error.code, message: error.message };
  }
}
