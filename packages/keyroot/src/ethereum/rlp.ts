import { restoreArrayFrom } from "./arrayFrom.ts";
import { decode, encode } from "@ethereumjs/rlp";

restoreArrayFrom();

// The functions are assigned to new names, because bundlers would skip a file that only re-exports. This file has a
// side effect, which must not be skipped.
export const decodeRlp = decode;
export const encodeRlp = encode;
