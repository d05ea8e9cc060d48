import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeMerkleFile, makeMerkleProof, serializeMerkleFile } from "keyroot/internal/merkle";
import { CODE_HASH, CONTRACT, plainBundle } from "../../test/support/data/plainBundle.ts";
import { sampleRecords } from "../../test/support/samples.ts";
import { type Sample } from "./ways.ts";

/**
 * The numbers of full branch nodes above the account and above its storage slot. Mainnet's tries have about 8, which is
 * enough for 4.3 billion entries.
 */
const DEPTHS = { accountDepth: 8, storageDepth: 8 };

/** Writes file.json, proof.json, bundle.json and sample.json for one user into a folder. */
export function writeSample(folder: string, users: number): void {
  mkdirSync(folder);
  const file = makeMerkleFile(sampleRecords(users));
  const userID = file.records[users >> 1]?.userID ?? "";
  const { root } = file.tree;
  const proof = makeMerkleProof(file, userID);
  const { bundle, pinned } = plainBundle(proof, DEPTHS);
  const sample: Sample = { userID, root, pinned, contract: CONTRACT, codeHash: CODE_HASH };
  writeFileSync(join(folder, "file.json"), [...serializeMerkleFile(file)].join(""));
  for (const [name, content] of Object.entries({ proof, bundle, sample }))
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(content));
}
