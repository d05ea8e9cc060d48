/**
 * The entry `keyroot/safety-code` with functions for safety codes. Two users compare a safety code in person to verify
 * both users' keys.
 */
export {
  type AccountHolder,
  type KeyHolder,
  makeSafetyCode,
  type SafetyCode,
  verifySafetyPayload,
} from "./identity/safetyCode.ts";
