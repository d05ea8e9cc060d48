/** Where the data of users can be stored, in words. */
export const REGION_NAMES: Readonly<Record<string, string>> = {
  "us-west-2": "Oregon (us-west-2)",
  "eu-west-1": "Ireland (eu-west-1)",
};

export function regionName(region: string): string {
  return REGION_NAMES[region] ?? region;
}
