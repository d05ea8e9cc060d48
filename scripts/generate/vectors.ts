/**
 * Writes test/vectors, with which implementers in any language can test their verifiers: `npm run vectors`. The vectors
 * follow from fixed seeds, and the verdicts are written by hand, so another run writes the same files.
 */
import { writeFile } from "node:fs/promises";
import { goodBundles } from "./vectors/goodBundles.ts";
import { goodFiles } from "./vectors/goodFiles.ts";
import { goodProofs } from "./vectors/goodProofs.ts";
import { makePossessionVectors } from "./vectors/possession.ts";
import { brokenTries, malformedBundles, misplacedBundles } from "./vectors/tamperedBundles.ts";
import { type SafetyCodeSet, safetyCodes } from "./vectors/safetyCodes.ts";
import { tamperedBytes } from "./vectors/tamperedBytes.ts";
import { tamperedProofs } from "./vectors/tamperedProofs.ts";
import { tamperedRecords } from "./vectors/tamperedRecords.ts";
import { tamperedShapes } from "./vectors/tamperedShapes.ts";
import { tamperedTrees } from "./vectors/tamperedTrees.ts";
import { type BundleQuery, serializeVectorSet, type Vector, type VectorSet } from "./vectors/vector.ts";

export const VECTORS = new URL("../../test/vectors/", import.meta.url);
/** Folder of the vectors of proofs of possession. */
export const POSSESSION_VECTORS = new URL("possession/possession.json", VECTORS);

/** The names and texts of all files in test/vectors. */
export function makeVectors(): Map<string, string> {
  const files = (about: string, vectors: Vector[]): VectorSet => {
    return { format: "keyroot-vectors-v1", kind: "merkle-file", about, vectors };
  };
  const proofs = (about: string, vectors: Vector[]): VectorSet => {
    return { format: "keyroot-vectors-v1", kind: "proof", about, vectors };
  };
  const bundles = (about: string, vectors: Vector<BundleQuery>[]): VectorSet => {
    return { format: "keyroot-vectors-v1", kind: "bundle", about, vectors };
  };
  const sets: Record<string, VectorSet | SafetyCodeSet> = {
    "merkle-file-good.json": files("Files that verify a key.", goodFiles()),
    "merkle-file-bytes.json": files("Files that are no UTF-8, or no JSON as the format has it.", tamperedBytes()),
    "merkle-file-shapes.json": files("Files without the parts, keys or lookup that a file has.", tamperedShapes()),
    "merkle-file-trees.json": files("Files whose values, tree or root are not what they should be.", tamperedTrees()),
    "merkle-file-records.json": files("Files with records or keys that are not to be trusted.", tamperedRecords()),
    "proof-good.json": proofs("Proofs that verify a key.", goodProofs()),
    "proof-tampered.json": proofs("Proofs that are malformed, or show something else.", tamperedProofs()),
    "bundle-good.json": bundles("Bundles that verify a key.", goodBundles()),
    "bundle-shapes.json": bundles("Bundles that are no JSON, or of another form.", malformedBundles()),
    "bundle-places.json": bundles("Bundles of another block, place, user or key; of no key.", misplacedBundles()),
    "bundle-tries.json": bundles("Bundles whose tries do not lead to the user's root.", brokenTries()),
    "safety-code.json": {
      ...{ format: "keyroot-vectors-v1", kind: "safety-code" },
      ...{ about: "Safety codes of two users, and payloads that must be rejected.", vectors: safetyCodes() },
    },
  };
  return new Map(Object.entries(sets).map(([name, set]) => [name, serializeVectorSet(set)]));
}

if (import.meta.main) {
  for (const [name, text] of makeVectors()) await writeFile(new URL(name, VECTORS), text);
  await writeFile(POSSESSION_VECTORS, makePossessionVectors());
}
