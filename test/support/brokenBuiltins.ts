/* eslint-disable no-console, @typescript-eslint/unbound-method -- it prints its results, and puts methods back */
import { createRequire } from "node:module";

/** The script to run. */
export const SCRIPT = import.meta.filename;

/**
 * Verifies with built-ins that a library has replaced, in a process of its own: makes a tree with `merkle-tree-gen`, which
 * replaces methods of Array, and loads the verifier. Prints the result of a quorum of 2 of which two members claim a higher block, and
 * for each method of Array that is replaced by another function, whether a changed file is accepted.
 */
if (import.meta.main) {
  const { fromArray } = createRequire(import.meta.url)("merkle-tree-gen") as {
    fromArray: (options: { array: string[] }, done: () => void) => void;
  };
  // It loads the part that replaces them when it makes a tree.
  await new Promise<void>((resolve) => {
    fromArray({ array: ["a"] }, resolve);
  });
  if ([1].find((value) => value === 1) === 1) throw new Error("merkle-tree-gen does not replace Array.prototype.find.");
  const { verifyPublicKey } = await import("../../packages/keyroot/src/index.ts");
  const { userID, publicKeys, quorum, changed } = JSON.parse(process.argv[2] ?? "") as {
    userID: string;
    publicKeys: string[];
    quorum: { chainId: number; contract: string; merkleUrl: string; rpc: string[] };
    changed: {
      answers: Record<string, string>;
      options: { rpc: string; chainId: number; contract: string; merkleUrl: string };
    };
  };
  const resultOf = async (verified: ReturnType<typeof verifyPublicKey>) => {
    try {
      const { record } = await verified;
      return publicKeys.indexOf(record.pubKey) === 0 ? "truth" : "lie";
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    }
  };
  const results: Record<string, string> = {};
  results["quorum"] = await resultOf(verifyPublicKey(userID, { ...quorum, quorum: 2, limits: { timeoutMs: 4000 } }));
  const { answers, options } = changed;
  const fetch = (_: unknown, { body }: RequestInit = {}) => {
    const text = typeof body === "string" ? body : "";
    const name = text.includes("eth_chainId")
      ? "chainId"
      : text.includes("ee94c797")
        ? "root"
        : text === ""
          ? "file"
          : "blockNumber";
    return Promise.resolve(new Response(answers[name]));
  };
  const original = Object.getOwnPropertyDescriptors(Array.prototype);
  for (const name of [
    "find",
    "findIndex",
    "findLast",
    "at",
    "some",
    "every",
    "includes",
    "filter",
    "indexOf",
  ] as const) {
    for (const [what, value] of Object.entries({ true: true, false: false, "-1": -1, undefined: undefined })) {
      Object.defineProperty(Array.prototype, name, { value: () => value, writable: true, configurable: true });
      const verified = resultOf(verifyPublicKey(userID, { ...options, fetch, limits: { timeoutMs: 2000 } }));
      const result = await verified;
      Object.defineProperty(Array.prototype, name, original[name]);
      results[`${name} ${what}`] = result;
    }
  }
  console.log(JSON.stringify(results));
}
