import { ed25519, isEd25519Signature } from "../keyTypes/ed25519.ts";
import { signing } from "./signing.ts";

/** The proof of possession of Ed25519 keys: a signature of the transcript (RFC 8032). */
export const possession = signing(ed25519, isEd25519Signature);
