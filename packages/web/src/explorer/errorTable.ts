/** What docs/errors.md says about a code. Named once, because the build writes the table wherever its name is. */
export const errorTable = ERROR_TABLE;
