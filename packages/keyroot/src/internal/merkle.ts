export { makeMerkleFile, serializeMerkleFile } from "../merkle/file.ts";
export type { MerkleFile } from "../merkle/fileOf.ts";
export { MERKLE_ROOT, checkMerkleRoot, hashChildren, hashLeaf, isMerkleRoot, rootOfFileName } from "../merkle/hash.ts";
export { parseMerkleFile } from "../merkle/parseMerkleFile.ts";
export { type MerkleProof, type Sibling, verifyMerkleProof, makeMerkleProof } from "../merkle/proof.ts";
export { MAX_VALUES } from "../merkle/tree.ts";
