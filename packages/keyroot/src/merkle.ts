/** The entry `keyroot/merkle`, with Merkle trees, their files, and proofs of inclusion. */
export { makeMerkleFile, serializeMerkleFile } from "./merkle/file.ts";
export type { MerkleFile } from "./merkle/fileOf.ts";
export { parseMerkleFile } from "./merkle/parseMerkleFile.ts";
export {
  makeMerkleProof,
  type MerkleProof,
  parseMerkleProof,
  type ProofQuery,
  type ProvenKey,
  type Sibling,
  verifyMerkleProof,
} from "./merkle/proof.ts";
export { MerkleTree } from "./merkle/tree.ts";
