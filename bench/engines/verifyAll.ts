import { createVerifier, oneEndpoint, type VerifierOptions } from "keyroot";

/** The verifications that an engine measures. */
export interface Task {
  options: Omit<VerifierOptions, "trust">;
  users: readonly { userID: string; pubKey: string }[];
  /** True to make a new verifier for each user. False to use one verifier for all users. */
  fresh: boolean;
}

/**
 * Verifies users one after another.
 * @param answerTo returns the body of the response to a request. The request is given as its URL, a space and its body
 */
export async function verifyAll(
  { options, users, fresh }: Task,
  answerTo: (request: string) => Uint8Array<ArrayBuffer>,
): Promise<void> {
  const fetch: typeof globalThis.fetch = (url, init) => {
    const { buffer } = answerTo(`${url as string} ${(init?.body as string | undefined) ?? ""}`);
    const headers = { has: () => false, get: () => null };
    return Promise.resolve({ status: 200, headers, arrayBuffer: () => Promise.resolve(buffer) } as unknown as Response);
  };
  const create = () => createVerifier({ ...options, trust: oneEndpoint(), fetch });
  let verifier = create();
  for (const { userID, pubKey } of users) {
    if (fresh) verifier = create();
    const { evidence } = await verifier.verify(userID, { expectedPublicKey: pubKey });
    if (evidence.uniqueness !== "checked") throw new Error(`The uniqueness is ${evidence.uniqueness}.`);
  }
}
