/** What an app needs to verify bundles offline, and to make them. Apart from the verifier: it brings Ethereum's tries. */
export { type Bundle, type BundleQuery, verifyBundle, parseBundle, type VerifiedBundle } from "./verifier/bundle.ts";
export { type MadeBundle, makeBundle, type MakeBundleOptions } from "./verifier/makeBundle.ts";
