import { ed25519 as curve } from "@noble/curves/ed25519.js";
import { ed25519 } from "../keyTypes/ed25519.ts";
import { signing } from "./signing.ts";

/** The proof of possession of Ed25519 keys: a signature of the transcript (RFC 8032). */
export const possession = signing(ed25519, (signature, message, publicKey) =>
  curve.verify(signature, message, publicKey, { zip215: false }),
);
