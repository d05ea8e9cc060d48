/**
 * The worker that verifies batches. It also verifies users' keys if one endpoint's unproven answer is enough.
 */
import { openBatch } from "./openBatch.ts";
import { serveCalls } from "./serveCalls.ts";
import { simpleTrust } from "./trust.ts";
import { verifyWith } from "./verify.ts";
import { warmUp } from "./warmUp.ts";

serveCalls({ verify: verifyWith(simpleTrust), openBatch });
// `warmUp` starts after the worker has sent the requests of the page's first call.
setTimeout(warmUp);
