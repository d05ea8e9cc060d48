import { restoreArrayFrom } from "./arrayFrom.ts";
import { decode, encode } from "@ethereumjs/rlp";

restoreArrayFrom();

// The functions get new names here, because bundlers skip a file that only re-exports. They would then also skip the
// call of `restoreArrayFrom` in this file.
export const decodeRlp = decode;
export const encodeRlp = encode;
