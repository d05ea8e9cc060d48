/** The worker for stronger evidence and for bundles. This worker also has all functions of the basic worker. */
import { makeBundleWith, verifyBundleWith } from "./bundles.ts";
import { openBatch } from "./openBatch.ts";
import { serveCalls } from "./serveCalls.ts";
import { simpleTrust } from "./trust.ts";
import { verifyWith } from "./verify.ts";

serveCalls({
  ...{ verify: verifyWith(simpleTrust), openBatch },
  ...{ makeBundle: makeBundleWith(), verifyBundle: verifyBundleWith() },
});
