import type { Evidence } from "../evidence.ts";
import type { UserID } from "../identity/userID.ts";

/** The codes of alarms. docs/watching.md explains each. The operator's `watch` uses the same codes for the same facts. */
export const ALARM_CODES = [
  "WATCHED_KEY_MISMATCH",
  "CONTACT_KEY_MISMATCH",
  "WATCHED_ROOT_CHANGED",
  "FILE_UNAVAILABLE",
] as const;

/** One of `ALARM_CODES`. */
export type AlarmCode = (typeof ALARM_CODES)[number];

/** A problem with a user's key, or with the answers of the chain and the file host about it. */
export interface Alarm {
  code: AlarmCode;
  userID: UserID;
  /** The problem in words, for people. */
  message: string;
  /** The evidence, for others: JSON in the format `keyroot-alarm-v1` (docs/proof-formats.md, "Alarm"), with a bundle if possible. */
  file: { name: string; text: string };
}

/** The published root and key of a user, as the watch read them. */
export interface Published {
  /** 64 lowercase hex digits. */
  root: string;
  /** The key in the root's file, in base64; empty if the file has no valid record of the user; undefined if it was not read. */
  publicKey?: string | undefined;
  /** The evidence for the root, with its block. */
  evidence: Evidence;
}

/** A condition that raises an alarm when it begins. */
export interface Condition {
  code: AlarmCode;
  /** Equal for the same condition in the next round. */
  id: string;
  message: string;
  /** Fields of the alarm's file. */
  facts: {
    /** The right key: the user's own, or the one that the server returned for a contact. */
    expectedPublicKey?: string;
    published: Published;
    /** The answer that contradicts `published`: another root, or none. */
    now?: { root?: string; evidence: Evidence };
    /** The start of the outage, and its cause. */
    outage?: object;
  };
}
