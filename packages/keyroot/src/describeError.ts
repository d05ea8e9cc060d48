import type { Advice, ErrorCode } from "./errors.ts";

/** What an app can tell its user about an error. */
export interface ErrorDescription {
  /** A few words, for a badge or a heading. */
  title: string;
  /** A sentence that says what happened and what the user can do. */
  text: string;
}

/** A subject of errors, as users see it. */
type Subject = keyof typeof WARNINGS | keyof typeof DELAYS | "app";

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

/** The texts for the advice `retry`, when nothing is known about the key. */
const DELAYS = {
  offline: ["No connection", "The key could not be checked, so connect to the internet and try again."],
  service: ["Check not possible now", "A service that confirms keys does not respond properly, so try again later."],
  storage: [
    "Storage not available",
    "The app cannot use the storage of this device, so free some space and try again.",
  ],
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

/** The subject of each code. The texts are chosen by the advice first, because one code can have several. */
const SUBJECTS: Readonly<Record<ErrorCode, Subject>> = {
  USER_ID_INVALID: "app",
  BASE64_INVALID: "key",
  PUBLIC_KEY_LENGTH: "key",
  KEY_TYPE_MISMATCH: "key",
  PUBLIC_KEY_FORMAT: "key",
  PUBLIC_KEY_NOT_ON_CURVE: "key",
  PUBLIC_KEY_SMALL_ORDER: "key",
  PUBLIC_KEY_NOT_PRIME_ORDER: "key",
  KEY_ID_INVALID: "key",
  KEY_ID_MISMATCH: "key",
  IDENTIFIER_INVALID: "app",
  SECRET_TOO_SHORT: "app",
  RECORD_INVALID: "false",
  JSON_INVALID: "false",
  JSON_TOO_DEEP: "false",
  JSON_DUPLICATE_KEY: "false",
  JSON_FORBIDDEN_TOKEN: "false",
  JSON_TOO_MANY_VALUES: "false",
  TREE_EMPTY: "false",
  TREE_TOO_LARGE: "false",
  HASH_INVALID: "false",
  HASH_NOT_LOWERCASE: "false",
  FILE_TOO_LARGE: "false",
  FILE_NOT_UTF8: "false",
  FILE_SHAPE: "false",
  FILE_UNKNOWN_KEY: "false",
  FILE_HASH_ALGORITHM: "false",
  VALUE_LOOKS_LIKE_NODE: "false",
  DUPLICATE_VALUE: "false",
  DUPLICATE_USER: "key",
  LOOKUP_MISMATCH: "false",
  TREE_MISMATCH: "false",
  ROOT_MISMATCH: "false",
  PROOF_SHAPE: "false",
  BUNDLE_SHAPE: "false",
  USER_MISMATCH: "key",
  ACCOUNT_MISSING: "changed",
  ACCOUNT_INVALID: "changed",
  ACCOUNT_MISMATCH: "changed",
  KEY_STATEMENT_INVALID: "changed",
  SUCCESSOR_UNPROVEN: "changed",
  SAFETY_CODE_INVALID: "safetyCode",
  SAFETY_CODE_MISMATCH: "safetyCode",
  UNANCHORED: "false",
  HEADER_INVALID: "false",
  HEADER_MISMATCH: "false",
  HEADER_UNSUPPORTED: "false",
  STALE_BLOCK: "outdated",
  FUTURE_BLOCK: "clock",
  QUORUM_NOT_REACHED: "contradiction",
  LIGHT_CLIENT_INVALID: "false",
  CHECKPOINT_TOO_OLD: "outdated",
  FORK_UNKNOWN: "outdated",
  BEACON_ERROR: "service",
  BEACON_ANSWER_INVALID: "service",
  AUDITOR_KEY_INVALID: "false",
  AUDITORS_NOT_REACHED: "contradiction",
  STATEMENT_INVALID: "false",
  STATEMENT_TOO_OLD: "outdated",
  STATEMENT_CONFLICT: "contradiction",
  PROOF_INVALID: "false",
  CHAIN_ID_MISMATCH: "false",
  CONTRACT_MISMATCH: "false",
  NO_CONTRACT: "false",
  NO_USER_COUNT: "false",
  CODE_HASH_MISMATCH: "false",
  NOT_PUBLISHED: "missing",
  EQUIVOCATION: "contradiction",
  USER_NOT_IN_FILE: "missing",
  KEY_MISMATCH: "key",
  ARGUMENT_INVALID: "app",
  BUILTIN_REPLACED: "app",
  ENVIRONMENT_UNSUPPORTED: "app",
  STORE_UNAVAILABLE: "storage",
  UNREACHABLE: "offline",
  RPC_ERROR: "service",
  RPC_ANSWER_INVALID: "service",
  FILE_HOST_ERROR: "service",
  FILE_NOT_FOUND: "missing",
  FILE_IS_HTML: "service",
  REDIRECT_REFUSED: "service",
  ANSWER_TOO_LARGE: "service",
  TIMEOUT: "offline",
  ABORTED: "app",
  MODULE_UNAVAILABLE: "offline",
};

/**
 * Describes an error to the app's user, in English and without technical terms. The description follows from the
 * error's advice. An error that Keyroot did not throw is described as a fault of the app.
 * @param error an error from Keyroot, or the object that its `toJSON` returned
 * @example
 * const { title, text } = describeError(error);
 */
export function describeError(error: unknown): ErrorDescription {
  const { advice, code = "" } = Object(error) as { advice?: Advice; code?: string };
  const [title, text] = textsOf(advice, (SUBJECTS as Readonly<Record<string, Subject>>)[code]);
  return { title, text };
}

function textsOf(advice: Advice | undefined, subject: Subject | undefined): readonly [string, string] {
  switch (advice) {
    case "warn":
      return subject !== undefined && subject in WARNINGS ? WARNINGS[subject as keyof typeof WARNINGS] : WARNINGS.false;
    case "retry":
      return subject !== undefined && subject in DELAYS ? DELAYS[subject as keyof typeof DELAYS] : DELAYS.service;
    case "wait":
      return WAIT;
    case "none":
      return NONE;
    default:
      return APP;
  }
}
