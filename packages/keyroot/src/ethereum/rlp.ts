import { restoreArrayFrom } from "./arrayFrom.ts";
import { decode, encode } from "@ethereumjs/rlp";

restoreArrayFrom();

// The functions get new names because bundlers skip a file that only re-exports, and would skip the side effect of
// `restoreArrayFrom` with it.
export const decodeRlp = decode;
export const encodeRlp = encode;
