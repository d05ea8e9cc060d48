/** The worker for stronger evidence and for bundles. This worker also has all functions of the basic worker. */
import { makeBundle, verifyBundle } from "./bundles.ts";
import { openBatch } from "./openBatch.ts";
import { serveCalls } from "./serveCalls.ts";
import { verify } from "./verify.ts";

serveCalls({ verify, openBatch, makeBundle, verifyBundle });
