/** `keyroot/bundle`: makes bundles, and verifies them offline. A separate entry, because it loads the code for Ethereum's proofs. */
export { type Bundle, type BundleQuery, verifyBundle, parseBundle, type VerifiedBundle } from "./verifier/bundle.ts";
export { type MadeBundle, makeBundle, type MakeBundleOptions } from "./verifier/makeBundle.ts";
