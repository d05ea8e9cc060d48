export type { BlockSource } from "../trust/blockSource.ts";
export { openTrust } from "../trust/trust.ts";
export { type Evidence } from "../evidence.ts";
export { verifyChainId, verifyFile, verifyRecord, verifyRoot } from "../verifier/verdict.ts";
