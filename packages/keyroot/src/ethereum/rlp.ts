import { restoreArrayFrom } from "./arrayFrom.ts";
import { decode, encode } from "@ethereumjs/rlp";

restoreArrayFrom();

// The functions have new names here, because bundlers skip a file that only re-exports. They must not skip this file,
// because it has a side effect.
export const decodeRlp = decode;
export const encodeRlp = encode;
