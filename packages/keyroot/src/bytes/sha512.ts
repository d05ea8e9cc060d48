import { sha512 as portableSha512 } from "@noble/hashes/sha2.js";

export { portableSha512 };

/** Node's function is several times faster than plain JavaScript. Browsers, and shims of `process`, do not have it. */
const nodeHash = (globalThis as { process?: Partial<NodeJS.Process> }).process?.getBuiltinModule?.("node:crypto")?.hash;

/** SHA-512 of bytes: 64 bytes. Uses Node's function if there is one. */
export const sha512: (data: Uint8Array) => Uint8Array = nodeHash
  ? (data) => new Uint8Array(nodeHash("sha512", data, "buffer"))
  : portableSha512;
