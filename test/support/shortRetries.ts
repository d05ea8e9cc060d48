import { DEFAULT_RETRY, FILE_HOST_RETRY } from "../../packages/operator/src/http/retry.ts";

// Shortens the delays before retries, but not their number, in tests and in the commands that they start.
DEFAULT_RETRY.initialDelayMs = 20;
FILE_HOST_RETRY.initialDelayMs = 20;
