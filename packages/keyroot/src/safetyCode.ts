/** The entry `keyroot/safety-code`. Two users compare a safety code in person to verify their keys. */
export { type KeyHolder, makeSafetyCode, type SafetyCode, verifySafetyPayload } from "./identity/safetyCode.ts";
