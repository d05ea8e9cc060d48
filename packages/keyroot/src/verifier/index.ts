export type { BlockSource } from "../trust/blockSource.ts";
export { openTrust } from "../trust/trust.ts";
export { type Evidence } from "../evidence.ts";
export type { KeyOptions, VerifierOptions } from "./options.ts";
export { createVerifier } from "./createVerifier.ts";
export { verifyChainId, verifyFile, verifyRecord, verifyRoot } from "./verdict.ts";
