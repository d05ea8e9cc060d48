/**
 * The entry `keyroot/safety-code`, with functions for safety codes. Two users who meet can compare their safety codes
 * to verify each other's keys.
 */
export {
  type AccountHolder,
  type KeyHolder,
  makeSafetyCode,
  type SafetyCode,
  verifySafetyPayload,
} from "./identity/safetyCode.ts";
