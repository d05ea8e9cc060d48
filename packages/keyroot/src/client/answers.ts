import { TransportError } from "../errors.ts";
import { USER_ID, type UserID } from "../identity/userID.ts";
import { type Region, REGIONS } from "../identity/region.ts";
import { ShapeChecker } from "../input/shapeChecker.ts";

/** A ShapeChecker that can check secrets. */
class AnswerChecker extends ShapeChecker {
  /** A string that matches `pattern`. The error does not contain the value. */
  secret(path: string, value: unknown, pattern: RegExp): string {
    if (typeof value === "string" && pattern.test(value)) return value;
    return this.text(path, undefined, pattern);
  }
}

/** Reads the service's answers. Ignores unknown fields, which a newer service may have added. */
export const ANSWER = new AnswerChecker(
  (message, details) => new TransportError("SERVICE_ANSWER_INVALID", message, details),
);

/** A shadow user (specification, "Shadow user"). */
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
 * Checks that an answer is about the user, region, token or key of the request.
 * @throws TransportError SERVICE_ANSWER_INVALID
 */
export function checkSubject(what: string, requested: string, answered: string): void {
  if (answered === requested) return;
  const message = `The service's answer is about the ${what} ${answered}, but the request was about ${requested}.`;
  throw new TransportError("SERVICE_ANSWER_INVALID", message, { expected: requested, actual: answered });
}
