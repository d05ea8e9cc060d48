import type { MerkleProof, Sibling } from "keyroot/merkle";
import { sha256 } from "../../../test/support/samples.ts";
import type { SampleFile } from "./sampleFile.ts";

/** Makes the proof of a value by the rules of docs/formats.md, without the library. */
export function plainProof(values: readonly string[], index: number): MerkleProof {
  const siblings: Sibling[] = [];
  let hashes = values.map((value) => sha256(value));
  for (let i = index; hashes.length > 1; i = Math.floor(i / 2)) {
    const own = hashes[i] ?? "";
    siblings.push(
      i % 2 === 1 ? { side: "left", hash: hashes[i - 1] ?? "" } : { side: "right", hash: hashes[i + 1] ?? own },
    );
    hashes = hashes.flatMap((left, j) => (j % 2 === 0 ? [sha256(left + (hashes[j + 1] ?? left))] : []));
  }
  return { format: "keyroot-proof-v1", value: values[index] ?? "", siblings, root: hashes[0] ?? "" };
}

/** The proof of the record at an index of a file. */
export function proofIn(file: SampleFile, index: number): MerkleProof {
  return plainProof(file.values, index);
}

/** The proof with another value, and the root that follows: a careful forgery. */
export function proofWithValue(proof: MerkleProof, value: string): MerkleProof {
  const root = proof.siblings.reduce(
    (node, { side, hash }) => sha256(side === "left" ? hash + node : node + hash),
    sha256(value),
  );
  return { ...proof, value, root };
}
