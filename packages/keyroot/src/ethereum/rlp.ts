import { restoreArrayFrom } from "./arrayFrom.ts";
import { decode, encode } from "@ethereumjs/rlp";

restoreArrayFrom();

// Not exported as they are: bundlers would then skip this file, which has an effect.
export const decodeRlp = decode;
export const encodeRlp = encode;
