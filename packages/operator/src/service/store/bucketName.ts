import type { Region, UserID } from "keyroot/identity";

/**
 * The name of a user's storage container: `<prefix>-<stage>-<region>-<user_id>`. It is unique because user ids are, and it
 * is a valid S3 bucket name: at most 63 lowercase letters, digits and hyphens. (`config.ts` limits prefix and stage.)
 */
export function bucketName(prefix: string, stage: string, region: Region, userID: UserID): string {
  return `${prefix}-${stage}-${region}-${userID}`;
}
