/**
 * The worker for blocks that auditors or Ethereum's sync committee signed. It is loaded only if auditors or a beacon
 * endpoint are configured.
 */
import { serveCalls } from "./serveCalls.ts";
import { signedTrust } from "./signedTrust.ts";
import { verifyWith } from "./verify.ts";

serveCalls({ verify: verifyWith(signedTrust) });
