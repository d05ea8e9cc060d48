export { type MerkleFile, makeMerkleFile, serializeMerkleFile } from "./file.ts";
export { MERKLE_ROOT, checkMerkleRoot, hashChildren, hashLeaf, isMerkleRoot, rootOfFileName } from "./hash.ts";
export { chunkNumber, findInLeafChunk, type LeafChunk, makeLeafChunks, MAX_CHUNK_BYTES } from "./leafChunk.ts";
export { parseMerkleFile } from "./parseMerkleFile.ts";
export { type MerkleProof, type Sibling, verifyMerkleProof, makeMerkleProof } from "./proof.ts";
export { MAX_VALUES } from "./tree.ts";
