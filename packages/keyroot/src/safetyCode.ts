/**
 * The entry `keyroot/safety-code`, with functions for safety codes, which two users who meet compare to verify both
 * users' keys.
 */
export {
  type AccountHolder,
  type KeyHolder,
  makeSafetyCode,
  type SafetyCode,
  verifySafetyPayload,
} from "./identity/safetyCode.ts";
