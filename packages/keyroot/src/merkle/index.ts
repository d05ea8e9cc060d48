export { makeMerkleFile, serializeMerkleFile } from "./file.ts";
export type { MerkleFile } from "./fileOf.ts";
export { MERKLE_ROOT, checkMerkleRoot, hashChildren, hashLeaf, isMerkleRoot, rootOfFileName } from "./hash.ts";
export { parseMerkleFile } from "./parseMerkleFile.ts";
export { type MerkleProof, type Sibling, verifyMerkleProof, makeMerkleProof } from "./proof.ts";
export { MAX_VALUES } from "./tree.ts";
