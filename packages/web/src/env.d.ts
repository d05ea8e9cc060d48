/** What the build defines. */

/** A script that the page fetches, relative to it, and its hash as in the attribute `integrity`. */
declare const WORKERS: Readonly<
  Record<"basic" | "evidence" | "safetyCode", { readonly url: string; readonly integrity: string }>
>;
/** The code of the dashboard's chart, in the same way. */
declare const CHART: { readonly url: string; readonly integrity: string };
/** The rows of docs/errors.md, by code. */
declare const ERROR_TABLE: Readonly<Record<string, { readonly meaning: string; readonly remedy: string } | undefined>>;

/** The address of the built file. */
declare module "*.svg" {
  const url: string;
  export default url;
}
