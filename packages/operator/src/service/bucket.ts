import type { Region } from "keyroot/identity";
import type { UserID } from "keyroot/identity";

/**
 * The name of a user's storage container: `<prefix>-<stage>-<region>-<user_id>`. No two users share one, since no two
 * share an id, and it is a valid name of an S3 bucket: lower case, digits and hyphens, at most 63 characters.
 */
export function bucketOf(prefix: string, stage: string, region: Region, userID: UserID): string {
  return `${prefix}-${stage}-${region}-${userID}`;
}
