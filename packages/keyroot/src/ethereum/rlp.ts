import { restoreArrayFrom } from "./arrayFrom.ts";
import { decode, encode } from "@ethereumjs/rlp";

restoreArrayFrom();

// Assigned, not re-exported: bundlers would otherwise skip this file, which has a side effect.
export const decodeRlp = decode;
export const encodeRlp = encode;
