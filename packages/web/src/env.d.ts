/** Constants that the build defines. */

/** The workers' scripts: URLs relative to the page, and hashes as in the attribute `integrity`. */
declare const WORKERS: Readonly<
  Record<
    "basic" | "evidence" | "signedBlock" | "safetyCode" | "registry",
    { readonly url: string; readonly integrity: string }
  >
>;
/** The script of the dashboard's chart, in the same form. */
declare const CHART: { readonly url: string; readonly integrity: string };
/** The rows of docs/errors.md, by code. */
declare const ERROR_TABLE: Readonly<Record<string, { readonly meaning: string; readonly remedy: string } | undefined>>;

/** The address of the built file. */
declare module "*.svg" {
  const url: string;
  export default url;
}
