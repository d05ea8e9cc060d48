import { ArgumentError, VerificationError } from "keyroot/errors";
import { type BadRow, readRecords, type RecordsRead } from "../publisher/records/readRecords.ts";
import type { Progress } from "./progress.ts";

/** How many bad rows a message names; `--json` has them all. */
const NAMED = 20;

/**
 * Reads the records of `--records`; a bad row ends the command unless `--skip-bad` was said.
 * @throws ArgumentError ARGUMENT_INVALID, FILE_UNREADABLE, NO_RECORDS; VerificationError RECORDS_INVALID
 */
export async function loadRecords(
  { records: path, skipBad }: { records: string | undefined; skipBad: boolean },
  progress: Progress,
): Promise<RecordsRead> {
  if (path === undefined) {
    throw new ArgumentError("ARGUMENT_INVALID", "Name the file with the users' records: --records FILE.");
  }
  const read = await readRecords(path, (done, size) => {
    progress.update("reading records", done, size, "bytes");
  });
  const { records, bad } = read;
  if (bad.length > 0 && !skipBad) {
    const rows = bad.slice(0, NAMED).map(({ line, code, message }) => `\n  line ${line}: ${code}: ${message}`);
    const more = bad.length > NAMED ? `\n  and ${bad.length - NAMED} more` : "";
    const message = `${path} has ${bad.length} bad of ${bad.length + records.length} rows; nothing was written.${rows.join("")}${more}`;
    throw new VerificationError("record", "RECORDS_INVALID", message, { actual: bad });
  }
  if (records.length === 0) throw new ArgumentError("NO_RECORDS", `${path} has no records to publish.`);
  return read;
}

/** What to tell people of the rows that `--skip-bad` left out. */
export function skippedLine(bad: readonly BadRow[]): string[] {
  return bad.length === 0 ? [] : [`Left out: ${bad.length} bad rows, lines ${bad.map(({ line }) => line).join(", ")}.`];
}
