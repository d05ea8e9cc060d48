/** `keyroot/bundle`: makes bundles, and verifies them offline. An entry of its own, because it loads Ethereum's proofs. */
export { type Bundle, type BundleQuery, verifyBundle, parseBundle, type VerifiedBundle } from "./verifier/bundle.ts";
export { type MadeBundle, makeBundle, type MakeBundleOptions } from "./verifier/makeBundle.ts";
