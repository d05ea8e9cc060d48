/**
 * The entry `keyroot/safety-code`. Two users compare a safety code in person, to check that both have the right keys.
 */
export { type KeyHolder, makeSafetyCode, type SafetyCode, verifySafetyPayload } from "./identity/safetyCode.ts";
