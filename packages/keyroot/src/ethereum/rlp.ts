import { restoreArrayFrom } from "./arrayFrom.ts";
import { decode, encode } from "@ethereumjs/rlp";

restoreArrayFrom();

// These are assignments because bundlers would skip this file if it only re-exported. The file has a side effect.
export const decodeRlp = decode;
export const encodeRlp = encode;
