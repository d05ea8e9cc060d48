/** `keyroot/safety-code`: with a safety code, two users check in person that both have the right keys. */
export { type KeyHolder, makeSafetyCode, type SafetyCode, verifySafetyPayload } from "./identity/safetyCode.ts";
