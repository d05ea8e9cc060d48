/** The worker that verifies batches, and users' keys with one endpoint's unproven answer. */
import { openBatch } from "./openBatch.ts";
import { serveCalls } from "./serveCalls.ts";
import { verify } from "./verify.ts";
import { warmUp } from "./warmUp.ts";

serveCalls({ verify, openBatch });
// This work starts after the requests of the page's first call are sent.
setTimeout(warmUp);
