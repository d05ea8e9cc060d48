import { TransportError } from "../errors.ts";
import type { UserID } from "../identity/userID.ts";
import { type Region, REGIONS } from "../identity/region.ts";
import { Shape } from "../input/shape.ts";

/** Reads answers of the service. What it does not know, a newer service may have added: it is left out. */
export const ANSWER = new Shape((...why) => new TransportError("SERVICE_ANSWER_INVALID", ...why));

/** A user's shadow in the service (specification, "Shadow user"). */
export interface ShadowUser {
  user_id: UserID;
  /** The name of the user's storage container. */
  bucket: string;
  region: Region;
  /** The deployment's stage. */
  stage: string;
  /** 32 hex digits. */
  salt: string;
  /** Milliseconds since 1970. */
  created: number;
}

/** 32 characters of zBase32. */
const USER_ID = /^[ybndrfg8ejkmcpqxot1uwisza345h769]{32}$/;

/** @throws TransportError SERVICE_ANSWER_INVALID */
export function readShadowUser(where: string, answer: unknown): ShadowUser {
  const fields = ANSWER.fields(where, answer, ["user_id", "bucket", "region", "stage", "salt", "created"]);
  return {
    user_id: readUserID(`${where}.user_id`, fields.user_id),
    bucket: ANSWER.text(`${where}.bucket`, fields.bucket),
    region: ANSWER.oneOf(`${where}.region`, fields.region, REGIONS),
    stage: ANSWER.text(`${where}.stage`, fields.stage),
    salt: ANSWER.text(`${where}.salt`, fields.salt, /^[0-9a-f]{32}$/),
    created: ANSWER.count(`${where}.created`, fields.created),
  };
}

/** @throws TransportError SERVICE_ANSWER_INVALID */
export function readUserID(where: string, answer: unknown): UserID {
  return ANSWER.text(where, answer, USER_ID);
}

/**
 * Holds an answer against what was asked about: an answer of another user, region or key is none.
 * @throws TransportError SERVICE_ANSWER_INVALID
 */
export function insistOn(what: string, expected: string, actual: string): void {
  if (actual === expected) return;
  const message = `The service answers about the ${what} ${actual}, it was asked about ${expected}.`;
  throw new TransportError("SERVICE_ANSWER_INVALID", message, { expected, actual });
}
