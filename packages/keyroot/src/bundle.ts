/**
 * The entry `keyroot/bundle` with functions that make bundles and verify bundles offline. Apps import this entry
 * separately, because the code for Ethereum's storage proofs is large.
 */
export { type Bundle, type BundleQuery, verifyBundle, parseBundle, type VerifiedBundle } from "./verifier/bundle.ts";
export { type MadeBundle, makeBundle, type MakeBundleOptions } from "./verifier/makeBundle.ts";
