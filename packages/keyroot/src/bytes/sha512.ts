import { sha512 as portableSha512 } from "@noble/hashes/sha2.js";
import { builtinModule } from "./builtinModule.ts";

const nodeHash = builtinModule("node:crypto")?.hash;

export { portableSha512 };

/** Computes SHA-512, 64 bytes, with Node's function if there is one. */
export const sha512: (data: Uint8Array) => Uint8Array = nodeHash
  ? (data) => new Uint8Array(nodeHash("sha512", data, "buffer"))
  : portableSha512;
