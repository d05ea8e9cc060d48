export { makeSource } from "../blocks/addedSources.ts";
export { type Evidence } from "../evidence.ts";
export { type VerifyOptions } from "./options.ts";
export { verifyChainId, verifyFile, verifyRecord, verifyRoot } from "./verdict.ts";
export { verifyPublicKey } from "./verifyPublicKey.ts";
