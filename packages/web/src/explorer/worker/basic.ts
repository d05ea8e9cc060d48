/** The worker for verifications that rest on one endpoint's unproven answer, and for files. */
import { openBatch } from "./openBatch.ts";
import { serveCalls } from "./serveCalls.ts";
import { verify } from "./verify.ts";
import { warmUp } from "./warmUp.ts";

serveCalls({ verify, openBatch });
// Runs after the page's first call has sent its requests.
setTimeout(warmUp);
