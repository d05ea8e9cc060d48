import type { UserID } from "../identity/userID.ts";

/** Where a user's data may be: Oregon and Ireland (specification, "Limits"). */
export const REGIONS = ["us-west-2", "eu-west-1"] as const;
export type Region = (typeof REGIONS)[number];

/** Tells whether a text names a region. */
export function isRegion(text: unknown): text is Region {
  return REGIONS.includes(text as Region);
}

/**
 * The name of a user's storage container: `<prefix>-<stage>-<region>-<user_id>`. No two users share one, since no two
 * share an id, and it is a valid name of an S3 bucket: lower case, digits and hyphens, at most 63 characters.
 */
export function bucketOf(prefix: string, stage: string, region: Region, userID: UserID): string {
  return `${prefix}-${stage}-${region}-${userID}`;
}
