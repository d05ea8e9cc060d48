import { randomBytes } from "node:crypto";
import type { Region, UserID } from "keyroot/identity";
import type { Change } from "../auditLog/recordChange.ts";
import type { Claim } from "./claims.ts";

/** A shadow user (docs/specification.md, "Shadow user"). */
export interface User {
  userID: UserID;
  bizID: string;
  region: Region;
  bucket: string;
  /** 32 hex digits. */
  salt: string;
  /** Milliseconds since 1970. */
  created: number;
  /** Milliseconds since 1970; null while the user is active. */
  deactivated: number | null;
}

/** Parts of bucket names. */
export interface UserNaming {
  bucketPrefix: string;
  stage: string;
}

/** A user to insert. */
export type NewUser = Omit<User, "deactivated">;

const SALT_BYTES = 16;

/** A user to insert, with a random salt. @param created milliseconds since 1970 */
export function newUser(claim: Claim, created: number, { bucketPrefix, stage }: UserNaming): NewUser {
  const bucket = bucketName(bucketPrefix, stage, claim.region, claim.userID);
  return { ...claim, bucket, salt: randomBytes(SALT_BYTES).toString("hex"), created };
}

/** The creation of a user, for the audit log and partners. */
export function creationOf({ created, bizID, userID, region }: NewUser): Change {
  return { action: "user.created", at: created, partner: bizID, user: userID, data: { region } };
}

/**
 * The name of a user's storage container: `<prefix>-<stage>-<region>-<user_id>`. It is unique because user ids are, and it
 * is a valid S3 bucket name: at most 63 lowercase letters, digits and hyphens. (`config.ts` limits prefix and stage.)
 */
function bucketName(prefix: string, stage: string, region: Region, userID: UserID): string {
  return `${prefix}-${stage}-${region}-${userID}`;
}
