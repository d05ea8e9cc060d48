/** The worker for one endpoint's word, and for files. */
import { openBatch } from "./openBatch.ts";
import { serveCalls } from "./serveCalls.ts";
import { verify } from "./verify.ts";

serveCalls({ verify, openBatch });
