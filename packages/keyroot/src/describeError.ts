import type { Advice, ErrorCode } from "./errors.ts";

/** What an app can tell its user about an error. */
export interface ErrorDescription {
  /** A few words, for a badge or a heading. */
  title: string;
  /** A sentence that says what happened and what the user can do. */
  text: string;
}

/** The texts for the advice `warn`, after which the user must not use the key. */
const WARNINGS = {
  key: ["Wrong key", "This may not be your contact's key, so do not send anything and compare your safety codes."],
  missing: ["No confirmed key", "No key of this contact is published, so do not send anything and ask your contact."],
  changed: [
    "Key change not confirmed",
    "The newest key of this contact is not confirmed, so do not send anything yet.",
  ],
  contradiction: [
    "Contradictory answers",
    "The services that confirm keys contradict each other, so do not send anything until the app confirms the key again.",
  ],
  false: ["Key not confirmed", "The app received false or damaged data about this key, so do not send anything."],
  outdated: [
    "Check is out of date",
    "The app could only get outdated data, so do not send anything and try again later.",
  ],
  clock: ["Check your clock", "The date or time of this device is wrong, so correct it and try again."],
  safetyCode: ["Safety codes differ", "Someone may have exchanged a key, so do not send anything to this contact."],
} as const;

/** The texts for the advice `retry`, after which nothing is known about the key. */
const DELAYS = {
  offline: ["No connection", "The key could not be checked, so connect to the internet and try again."],
  service: ["Check not possible now", "A service that confirms keys does not respond properly, so try again later."],
  storage: [
    "Storage not available",
    "The app cannot use the storage of this device, so free some space and try again.",
  ],
  noSafetyCode: ["Not a safety code", "This is not a safety code, or one of the apps is out of date."],
  otherSafetyCode: ["Not this contact's safety code", "Scan the safety code on the screen of this contact."],
} as const;

const WAIT = [
  "Not confirmed yet",
  "This contact is new and the key is not published yet, so try again later.",
] as const;
const APP = [
  "This app has a fault",
  "The key could not be checked, so update the app or tell the people who make it.",
] as const;
const NONE = ["Stopped", "The check was stopped before it ended."] as const;

/** The warnings for codes that have another one than `false`. */
const WARNING_OF: ReadonlyMap<string | undefined, keyof typeof WARNINGS> = /* @__PURE__ */ new Map([
  ["BASE64_INVALID", "key"],
  ["PUBLIC_KEY_LENGTH", "key"],
  ["KEY_TYPE_MISMATCH", "key"],
  ["PUBLIC_KEY_FORMAT", "key"],
  ["PUBLIC_KEY_NOT_ON_CURVE", "key"],
  ["PUBLIC_KEY_SMALL_ORDER", "key"],
  ["PUBLIC_KEY_NOT_PRIME_ORDER", "key"],
  ["KEY_ID_INVALID", "key"],
  ["KEY_ID_MISMATCH", "key"],
  ["DUPLICATE_USER", "key"],
  ["USER_MISMATCH", "key"],
  ["KEY_MISMATCH", "key"],
  ["NOT_PUBLISHED", "missing"],
  ["USER_NOT_IN_FILE", "missing"],
  ["FILE_NOT_FOUND", "missing"],
  ["ACCOUNT_MISSING", "changed"],
  ["ACCOUNT_INVALID", "changed"],
  ["ACCOUNT_MISMATCH", "changed"],
  ["KEY_STATEMENT_INVALID", "changed"],
  ["SUCCESSOR_UNPROVEN", "changed"],
  ["QUORUM_NOT_REACHED", "contradiction"],
  ["AUDITORS_NOT_REACHED", "contradiction"],
  ["STATEMENT_CONFLICT", "contradiction"],
  ["EQUIVOCATION", "contradiction"],
  ["STALE_BLOCK", "outdated"],
  ["CHECKPOINT_TOO_OLD", "outdated"],
  ["STATEMENT_TOO_OLD", "outdated"],
  ["FUTURE_BLOCK", "clock"],
  ["SAFETY_CODE_MISMATCH", "safetyCode"],
] satisfies [ErrorCode, keyof typeof WARNINGS][]);

/** The delays for codes that have another one than `service`. */
const DELAY_OF: ReadonlyMap<string | undefined, keyof typeof DELAYS> = /* @__PURE__ */ new Map([
  ["UNREACHABLE", "offline"],
  ["TIMEOUT", "offline"],
  ["MODULE_UNAVAILABLE", "offline"],
  ["STORE_UNAVAILABLE", "storage"],
  ["SAFETY_CODE_INVALID", "noSafetyCode"],
  // Only `verifySafetyPayload` gives this code the advice `retry`.
  ["USER_MISMATCH", "otherSafetyCode"],
] satisfies [ErrorCode, keyof typeof DELAYS][]);

/**
 * Describes an error to the app's user, in English and without technical terms. The text depends on the error's advice.
 * An error that Keyroot did not throw is described as a fault of the app.
 * @param error an error from Keyroot, or the object that its `toJSON` returned
 * @example
 * const { title, text } = describeError(error);
 */
export function describeError(error: unknown): ErrorDescription {
  const { advice, code } = Object(error) as { advice?: Advice; code?: string };
  const [title, text] = textsOf(advice, code);
  return { title, text };
}

function textsOf(advice: Advice | undefined, code: string | undefined): readonly [string, string] {
  switch (advice) {
    case "warn":
      return WARNINGS[WARNING_OF.get(code) ?? "false"];
    case "retry":
      return DELAYS[DELAY_OF.get(code) ?? "service"];
    case "wait":
      return WAIT;
    case "none":
      return NONE;
    default:
      return APP;
  }
}
