/**
 * The entry `keyroot/bundle`, with functions that make bundles and verify them offline. It is separate from `keyroot`
 * because the code for Ethereum's storage proofs is large.
 */
export { type Bundle, type BundleQuery, verifyBundle, parseBundle, type VerifiedBundle } from "./verifier/bundle.ts";
export { type MadeBundle, makeBundle, type MakeBundleOptions } from "./verifier/makeBundle.ts";
