import type { AuditorsOption } from "keyroot/auditors";
import { ArgumentError } from "keyroot/errors";
import { readAuditorKeys } from "./inputFiles.ts";

/** The arguments that name auditors. */
interface AuditorArguments {
  auditors?: string | undefined;
  threshold?: number | undefined;
  statementUrls?: string | undefined;
}

/**
 * The option `auditors` of a verifier, with the source added to the library.
 * @returns undefined without `--auditors`
 * @throws ArgumentError ARGUMENT_INVALID, FILE_UNREADABLE
 */
export async function auditorsOptionOf(args: AuditorArguments): Promise<AuditorsOption | undefined> {
  const { auditors, threshold, statementUrls } = args;
  if (auditors === undefined && threshold === undefined && statementUrls === undefined) return undefined;
  if (auditors === undefined || threshold === undefined || statementUrls === undefined) {
    const message =
      "Auditors need their keys, their number and their folders: --auditors FILE --threshold N --statement-urls URLS.";
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  await import("keyroot/auditors");
  return { keys: await readAuditorKeys(auditors), threshold, urls: statementUrls.split(",") };
}
