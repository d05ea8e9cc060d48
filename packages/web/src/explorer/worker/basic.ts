/** The worker for one endpoint's word, and for files. */
import { openBatch } from "./openBatch.ts";
import { serveCalls } from "./serveCalls.ts";
import { verify } from "./verify.ts";
import { warmUp } from "./warmUp.ts";

serveCalls({ verify, openBatch });
// After the page's first call, whose requests are then on their way.
setTimeout(warmUp);
