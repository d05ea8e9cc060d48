import { ANY_KEY, type KeyRecord } from "keyroot/internal/identity";

/** A user in a file, with the other values that a verifier needs in addition to the file, proof or bundle. */
export interface Sample {
  userID: string;
  root: string;
  pinned: string;
  contract: string;
  codeHash: string;
}

/** The methods to verify one user, and the methods for comparison. The values are the names in the figures. */
export const WAYS = {
  file: "whole file",
  path: "path in a parsed proof",
  proof: "proof",
  bundle: "bundle",
  parse: "JSON.parse of the file",
  treeHashes: "JSON.parse and hashes of the tree",
  firstClients: "first clients' method",
} as const;

export type Way = keyof typeof WAYS;

/** The library's module for each method, relative to its folder. */
export const MODULES = {
  file: "internal/verifier",
  path: "merkle",
  proof: "merkle",
  bundle: "bundle",
} as const;

/** Returns the name of the sample's file that a method reads. */
export const inputOf = (way: Way): "file" | "proof" | "bundle" =>
  way === "bundle" ? "bundle" : way === "proof" || way === "path" ? "proof" : "file";

/**
 * Loads the code of a way to verify, and returns a function that verifies bytes in this way.
 * @param library the folder of the library's modules
 */
export async function load(way: Way, library: string, sample: Sample): Promise<(bytes: Uint8Array) => unknown> {
  const { userID, root, pinned, contract, codeHash } = sample;
  if (way === "parse") return (bytes) => JSON.parse(new TextDecoder().decode(bytes)) as unknown;
  if (way === "treeHashes") return loadTreeHashes(root);
  if (way === "firstClients") return loadFirstClients(sample);
  const pathOf = (module: string) => `${library}/${module}${library.endsWith("src") ? ".ts" : ".js"}`;
  const path = pathOf(MODULES[way]);
  if (way === "file") {
    const { verifyFile } = (await import(path)) as typeof import("keyroot/internal/verifier");
    return (bytes) => verifyFile({ userID, chainId: 1, contract, expectedPublicKey: ANY_KEY }, root, bytes);
  }
  if (way === "bundle") {
    const { verifyBundle } = (await import(path)) as typeof import("keyroot/bundle");
    // The choice of trust must come from the same copy of the library.
    const { pinnedBlock } = (await import(pathOf("index"))) as typeof import("keyroot");
    return (bytes) =>
      verifyBundle(bytes, {
        userID,
        chainId: 1,
        contract,
        codeHash,
        expectedPublicKey: ANY_KEY,
        trust: pinnedBlock(pinned),
      });
  }
  const { verifyMerkleProof } = (await import(path)) as typeof import("keyroot/merkle");
  if (way === "proof") return (bytes) => verifyMerkleProof(bytes, { userID, root, expectedPublicKey: ANY_KEY });
  let parsed: unknown;
  return (bytes) => {
    parsed ??= JSON.parse(new TextDecoder().decode(bytes));
    return verifyMerkleProof(parsed, { userID, root, expectedPublicKey: ANY_KEY });
  };
}

/**
 * Returns the least work to verify a whole file in Node without a library: it parses the file, and hashes every leaf
 * and node with `node:crypto`. It does not check records, keys or the format.
 */
async function loadTreeHashes(root: string): Promise<(bytes: Uint8Array) => void> {
  const { hash } = await import("node:crypto");
  return (bytes) => {
    const { values } = JSON.parse(new TextDecoder().decode(bytes)) as { values: string[] };
    let level = values.map((value) => hash("sha256", value));
    while (level.length > 1) {
      const parents: string[] = [];
      for (let i = 0; i < level.length; i += 2) {
        const left = level[i] ?? "";
        parents.push(hash("sha256", left + (level[i + 1] ?? left)));
      }
      level = parents;
    }
    if (level[0] !== root) throw new Error("The file is not the file of the root.");
  };
}

/**
 * Returns the method of the format's first clients: it rebuilds the tree with merkle-tree-gen, compares the root, and
 * finds the user. It needs a separate process, because merkle-tree-gen replaces methods of Array.
 */
async function loadFirstClients({ userID, root }: Sample): Promise<(bytes: Uint8Array) => void> {
  const { makeMerkle } = await import("../../test/support/data/merkleTreeGen.ts");
  return (bytes) => {
    const { values, lookup } = JSON.parse(new TextDecoder().decode(bytes)) as {
      values: string[];
      lookup: Record<string, number>;
    };
    const computed = makeMerkle(values);
    const { userID: found } = JSON.parse(values[lookup[userID] ?? -1] ?? "{}") as KeyRecord;
    if (computed.root !== root || found !== userID) throw new Error("The file does not verify.");
  };
}
