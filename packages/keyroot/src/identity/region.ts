/** The regions for users' data: Oregon and Ireland (docs/specification.md, "Limits"). */
export const REGIONS = ["us-west-2", "eu-west-1"] as const;
/** The name of a region, such as "eu-west-1". */
export type Region = (typeof REGIONS)[number];

/** Checks whether a value is the name of a region. */
export function isRegion(value: unknown): value is Region {
  return REGIONS.includes(value as Region);
}
