/** Constants that the build defines. */

/**
 * For each worker, the URL of its script relative to the page, and its hash in the form of the `integrity` attribute.
 */
declare const WORKERS: Readonly<
  Record<
    "basic" | "evidence" | "signedBlock" | "safetyCode" | "qr" | "list" | "registry" | "complete",
    { readonly url: string; readonly integrity: string }
  >
>;
/** The URL and hash of the dashboard chart's script. */
declare const CHART: { readonly url: string; readonly integrity: string };

interface WindowEventMap {
  /** The service requires a new session. */
  "keyroot-session-ended": Event;
}

/** The URL of an imported file. */
declare module "*.svg" {
  const url: string;
  export default url;
}
