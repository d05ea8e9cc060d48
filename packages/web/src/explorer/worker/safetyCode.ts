/** The worker for safety codes. */
import { safetyCode } from "./compareSafetyCode.ts";
import { serveCalls } from "./serveCalls.ts";

serveCalls({ safetyCode });
