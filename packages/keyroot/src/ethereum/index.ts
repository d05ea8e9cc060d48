export { fetchBlock, fetchBlockByHash } from "./blocks.ts";
export { codeHashOf } from "./codeHash.ts";
export { type BlockHeader } from "./header.ts";
export { extractProof, verifyStorageProof } from "./storageProof.ts";
