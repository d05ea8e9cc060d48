import { randomBytes } from "node:crypto";
import type { Region, UserID } from "keyroot/internal/identity";
import type { Change } from "../auditLog/recordChange.ts";
import type { Claim } from "./claims.ts";
import type { users } from "./tables.ts";

/** A shadow user (docs/specification.md, "Shadow user"). */
export type User = Omit<typeof users.$inferSelect, "erased">;

export type NewUser = Omit<User, "deactivated">;

const SALT_BYTES = 16;

export function newUser(claim: Claim, created: number, stage: string): NewUser {
  const bucket = bucketName(stage, claim.region, claim.userID);
  return { ...claim, bucket, salt: randomBytes(SALT_BYTES).toString("hex"), created };
}

/** Returns the creation of a user as a change, for the audit log and for partners. */
export function creationOf({ created, bizID, userID, region }: NewUser): Change {
  return { action: "user.created", at: created, partner: bizID, user: userID, data: { region } };
}

/**
 * Returns the name of a user's storage container: `keyroot-<stage>-<region>-<user_id>`. The user id makes it unique,
 * and the limit on the stage in `config.ts` makes it a valid S3 bucket name.
 */
function bucketName(stage: string, region: Region, userID: UserID): string {
  return `keyroot-${stage}-${region}-${userID}`;
}
