import type { Evidence } from "../evidence.ts";
import type { UserID } from "../identity/userID.ts";

/** The codes of alarms, which docs/watching.md explains. The operator's `watch` command uses the same codes. */
export const ALARM_CODES = [
  "WATCHED_KEY_MISMATCH",
  "CONTACT_KEY_MISMATCH",
  "WATCHED_ROOT_CHANGED",
  "FILE_UNAVAILABLE",
  "SLOT_UNAUTHORIZED",
  "CHANGE_UNPUBLISHED",
] as const;

/** The code of an alarm, one of `ALARM_CODES`. */
export type AlarmCode = (typeof ALARM_CODES)[number];

/** A problem with a user's key, or with the chain's or file host's data about this key. */
export interface Alarm {
  code: AlarmCode;
  userID: UserID;
  /** A description of the problem for people. */
  message: string;
  /**
   * A file with the evidence, which others can check. It is JSON in the format `keyroot-alarm-v1` (docs/formats.md,
   * "Alarm"). It contains a bundle if one could be made.
   */
  file: { name: string; text: string };
}

/** The published root and key of a user at the watch's last check. */
export interface Published {
  /** The Merkle root, 64 lowercase hex digits. */
  root: string;
  /**
   * The user's key in the root's file, in base64. It is empty if the file has no valid record of the user, and
   * undefined if the file was not read.
   */
  publicKey?: string | undefined;
  /** The evidence for the root, with the block at which the watch read the root. */
  evidence: Evidence;
}

/** A problem that raises an alarm when the watch first finds it. */
export interface Condition {
  code: AlarmCode;
  /** The id of the condition, which is the same in every round. */
  id: string;
  message: string;
  /** The user id of the alarm's bundle: a slot of the user's account. Default: the user's id. */
  slotID?: UserID | undefined;
  /** The fields of the alarm's file that depend on the condition. */
  facts: {
    /** The correct key: the user's own key, or the key that the server returned for a contact. */
    expectedPublicKey?: string;
    published?: Published;
    /** The number of the account's slot that the alarm is about. */
    slot?: number;
    /** The newer answer, which contradicts `published`: a different root, or no root. */
    now?: { root?: string; evidence: Evidence };
    /** The start and the cause of the file host's outage. */
    outage?: object;
  };
}
