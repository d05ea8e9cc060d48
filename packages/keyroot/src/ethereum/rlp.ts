import { restoreArrayFrom } from "./arrayFrom.ts";
import { decode, encode } from "@ethereumjs/rlp";

restoreArrayFrom();

// The functions get new names here, because bundlers skip a file that only re-exports. They must not skip this file,
// because `restoreArrayFrom` is a side effect.
export const decodeRlp = decode;
export const encodeRlp = encode;
