import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type KeyRecord, userIDToHex } from "keyroot/internal/identity";
import type { RpcCall } from "keyroot/internal/transport";
import { type PlainFile, plainFile } from "../data/plainFile.ts";

/** A registry, and the folder of its files. */
export interface Deployment {
  /** An endpoint that holds the owner's key. */
  call: RpcCall;
  contract: string;
  owner: string;
  filesDir: string;
}

/** The result of the comparison of a registry with its files. */
export interface VerifiedDeployment {
  /** Each user's root. */
  rootOf: Map<string, string>;
  /** The roots of files that no user has. */
  unusedRoots: string[];
}

/** The selector of `getMerkleTreeRoot(bytes20)`. */
const GET_MERKLE_TREE_ROOT = "0xee94c797";

/**
 * Checks that every user has a root, and that the root's file is stored, is the tree of its values, and has the user's
 * record exactly once. It shares no code with the publisher or the verifier.
 * @param records the records to publish, by any publisher. If a user has several, one of them must be in the file
 * @throws Error that describes the first problem
 */
export async function verifyDeployment(
  { call, contract, filesDir }: Deployment,
  records: readonly KeyRecord[],
): Promise<VerifiedDeployment> {
  const files = new Map<string, Set<string>>();
  for (const name of await readdir(filesDir)) {
    // Drafts have hidden names, which no host serves.
    if (name.startsWith(".")) continue;
    const file = JSON.parse(await readFile(join(filesDir, name), "utf8")) as PlainFile;
    const values = new Set(file.values as string[]);
    const { root, ...expected } = plainFile([...values]);
    if (name !== `${root}.json` || !isDeepStrictEqual(file, expected)) {
      throw new Error(`The file ${name} is not the tree of its values.`);
    }
    files.set(root, values);
  }

  const rootOf = new Map<string, string>();
  for (const [userID, own] of Map.groupBy(records, ({ userID }) => userID)) {
    const data = GET_MERKLE_TREE_ROOT + userIDToHex(userID) + "0".repeat(24);
    const answer = await call("eth_call", [{ to: contract, data }, "latest"]);
    const root = String(answer).slice(2);
    if (/^0*$/.test(root)) throw new Error(`The user ${userID} has no root.`);
    const values = files.get(root);
    if (values === undefined) throw new Error(`The root ${root} of ${userID} has no file.`);
    const expected = own.map(({ userID, pubKey, keyID }) => JSON.stringify({ userID, pubKey, keyID }));
    if (!expected.some((value) => values.has(value))) throw new Error(`The file ${root} has another key of ${userID}.`);
    rootOf.set(userID, root);
  }
  const used = new Set(rootOf.values());
  return { rootOf, unusedRoots: [...files.keys()].filter((root) => !used.has(root)) };
}
