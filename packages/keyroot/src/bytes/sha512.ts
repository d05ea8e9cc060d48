import { sha512 as portableSha512 } from "@noble/hashes/sha2.js";

export { portableSha512 };

/** Node's SHA-512, or undefined in browsers. It is several times faster than plain JavaScript. */
const nodeHash = (globalThis as { process?: Partial<NodeJS.Process> }).process?.getBuiltinModule?.("node:crypto")?.hash;

/** Computes SHA-512, 64 bytes. Uses Node's function if it exists. */
export const sha512: (data: Uint8Array) => Uint8Array = nodeHash
  ? (data) => new Uint8Array(nodeHash("sha512", data, "buffer"))
  : portableSha512;
