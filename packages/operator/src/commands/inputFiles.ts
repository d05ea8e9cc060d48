import { readFile, stat } from "node:fs/promises";
import type { KeyTypeName } from "keyroot/internal/identity";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { unreadableInput } from "../disk/fileErrors.ts";
import { ArgumentError, VerificationError } from "../errors.ts";
import type { IdColumn } from "../publisher/records/csvRecords.ts";
import { readRecords, type RecordsRead } from "../publisher/records/readRecords.ts";
import { plural } from "../plural.ts";
import { printError } from "./output.ts";
import type { Progress } from "./progress.ts";

/** The maximum number of bad rows in a message. `--json` prints all bad rows. */
const LISTED = 20;

/**
 * Reads the records of `--records`.
 * @throws ArgumentError ARGUMENT_INVALID, FILE_UNREADABLE, NO_RECORDS; VerificationError RECORDS_INVALID
 */
export async function loadRecords(
  { records: path, keyType, idColumn }: { records: string; keyType: KeyTypeName; idColumn?: IdColumn },
  progress: Progress,
): Promise<RecordsRead["records"]> {
  const isStandardInput = path === "-";
  const name = isStandardInput ? "Standard input" : path;
  const onRead = (done: number, size: number) => {
    progress.update("reading records", done, size, "bytes");
  };
  const type = await loadKeyType(keyType);
  const source = isStandardInput ? process.stdin : path;
  const { records, bad, ignoredColumns } = await readRecords(source, onRead, type, idColumn);
  if (ignoredColumns.length > 0) {
    const columns = `${ignoredColumns.length === 1 ? "column" : "columns"} ${ignoredColumns.join(", ")}`;
    printError(`Ignored the ${columns} of ${name}, because records have no such field.`);
  }
  if (bad.length > 0) {
    const rows = bad.slice(0, LISTED).map(({ line, code, message }) => `\n  line ${line}: ${code}: ${message}`);
    const more = bad.length > LISTED ? `\n  and ${bad.length - LISTED} more` : "";
    const total = plural(bad.length + records.length, "row");
    const message = `${name} has ${plural(bad.length, "bad row")} among ${total}. Nothing was written. Correct or remove the rows.${rows.join("")}${more}`;
    throw new VerificationError("record", "RECORDS_INVALID", message, { actual: bad });
  }
  if (records.length === 0) throw new ArgumentError("NO_RECORDS", `${name} has no records to publish.`);
  return records;
}

/** Reads the lines of a file, and skips empty lines. @throws ArgumentError FILE_UNREADABLE */
export async function readLines(path: string): Promise<string[]> {
  try {
    return (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  } catch (cause) {
    throw unreadableInput(path, cause);
  }
}

/** Reads a file that an argument names. Rejects folders and devices. @throws ArgumentError FILE_UNREADABLE */
export async function readInput(path: string): Promise<Uint8Array> {
  try {
    if ((await stat(path)).isFile()) return await readFile(path);
  } catch (cause) {
    throw unreadableInput(path, cause);
  }
  throw new ArgumentError("FILE_UNREADABLE", `${path} is not a file.`);
}
