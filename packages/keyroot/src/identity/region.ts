/** Where a user's data may be: Oregon and Ireland (specification, "Limits"). */
export const REGIONS = ["us-west-2", "eu-west-1"] as const;
export type Region = (typeof REGIONS)[number];

/** Tells whether a text names a region. */
export function isRegion(text: unknown): text is Region {
  return REGIONS.includes(text as Region);
}
