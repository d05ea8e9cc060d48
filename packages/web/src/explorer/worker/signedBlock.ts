/**
 * The worker for blocks that auditors or Ethereum's sync committee signed. The page loads this worker only if auditors
 * or a beacon endpoint are configured.
 */
import { serveCalls } from "./serveCalls.ts";
import { verifySigned } from "./signedTrust.ts";

serveCalls({ verify: verifySigned });
