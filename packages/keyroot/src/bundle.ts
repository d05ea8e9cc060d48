/**
 * The entry `keyroot/bundle`, which makes bundles and verifies them offline. The entry is separate because it loads the
 * code for Ethereum's storage proofs.
 */
export { type Bundle, type BundleQuery, verifyBundle, parseBundle, type VerifiedBundle } from "./verifier/bundle.ts";
export { type MadeBundle, makeBundle, type MakeBundleOptions } from "./verifier/makeBundle.ts";
