/**
 * The entry `keyroot/safety-code`, with functions for safety codes. Two users who meet compare their safety code in
 * order to verify both users' keys.
 */
export {
  type AccountHolder,
  type KeyHolder,
  makeSafetyCode,
  type SafetyCode,
  verifySafetyPayload,
} from "./identity/safetyCode.ts";
