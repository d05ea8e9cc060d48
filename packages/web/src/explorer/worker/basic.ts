/** The worker that verifies batches, and users' keys with one endpoint's unproven answer. */
import { openBatch } from "./openBatch.ts";
import { serveCalls } from "./serveCalls.ts";
import { verify } from "./verify.ts";
import { warmUp } from "./warmUp.ts";

serveCalls({ verify, openBatch });
// Warm up only after the page's first call has sent its requests.
setTimeout(warmUp);
