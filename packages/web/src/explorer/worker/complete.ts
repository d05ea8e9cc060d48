/**
 * The worker with the whole library. It is used for attacks, and by explorers of registries that have accounts or a key
 * type other than Curve41417. It has all functions of the workers `basic`, `evidence`, `signedBlock` and `safetyCode`.
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
