/**
 * The worker with the whole library. It has all functions of the workers `basic`, `evidence`, `signedBlock` and
 * `safetyCode`. It runs the attacks, and serves explorers of registries with accounts or with a key type other than
 * Curve41417.
 */
import { accountCode, readSlots } from "./accounts.ts";
import { makeBundleWith, verifyBundleWith } from "./bundles.ts";
import { safetyCode } from "./compareSafetyCode.ts";
import { openBatch } from "./openBatch.ts";
import { runAttack } from "./runAttack.ts";
import { serveCalls } from "./serveCalls.ts";
import { signedTrust } from "./signedTrust.ts";
import { verifyWith } from "./verify.ts";

serveCalls({
  ...{ verify: verifyWith(signedTrust, accountCode), readSlots, openBatch, safetyCode, runAttack },
  ...{ makeBundle: makeBundleWith(accountCode), verifyBundle: verifyBundleWith(accountCode) },
});
