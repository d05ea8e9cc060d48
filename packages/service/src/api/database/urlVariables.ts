/** The environment variable with the database URL of each place. */
export const URL_VARIABLES = {
  home: "DATABASE_URL",
  "us-west-2": "DATABASE_URL_US_WEST_2",
  "eu-west-1": "DATABASE_URL_EU_WEST_1",
} as const;
