/**
 * The worker with the whole library: for explorers with another key type than Curve41417, and for attacks. It has all functions of
 * the workers `basic`, `evidence`, `signedBlock` and `safetyCode`.
 */
import { makeBundle, verifyBundle } from "./bundles.ts";
import { safetyCode } from "./compareSafetyCode.ts";
import { openBatch } from "./openBatch.ts";
import { runAttack } from "./runAttack.ts";
import { serveCalls } from "./serveCalls.ts";
import { verifySigned } from "./signedTrust.ts";

serveCalls({ verify: verifySigned, openBatch, makeBundle, verifyBundle, safetyCode, runAttack });
