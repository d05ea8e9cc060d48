export { type MerkleFile, makeMerkleFile, parseMerkleFile, serializeMerkleFile } from "./file.ts";
export { MERKLE_ROOT, checkMerkleRoot, hashChildren, hashLeaf, isMerkleRoot, rootOfFileName } from "./hash.ts";
export { type MerkleProof, type Sibling, verifyProof, makeProof } from "./proof.ts";
export { MAX_VALUES } from "./tree.ts";
