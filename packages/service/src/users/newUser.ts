import { randomBytes } from "node:crypto";
import type { Change } from "../auditLog/recordChange.ts";
import type { Claim } from "./claims.ts";
import type { users } from "./tables.ts";

/** A shadow user (docs/specification.md, "Shadow user"). */
export type User = Omit<typeof users.$inferSelect, "erased">;

export type NewUser = Omit<User, "deactivated">;

const SALT_BYTES = 16;

export function newUser(claim: Claim, created: number, stage: string): NewUser {
  // The user id makes the name unique, and the limit on the stage in `serviceConfig.ts` makes it valid for S3.
  const bucket = `keyroot-${stage}-${claim.region}-${claim.userID}`;
  return { ...claim, bucket, salt: randomBytes(SALT_BYTES).toString("hex"), created };
}

/** Returns the creation of a user as a change, for the audit log and for partners. */
export function creationOf({ created, bizID, userID, region }: NewUser): Change {
  return { action: "user.created", at: created, partner: bizID, user: userID, data: { region } };
}
