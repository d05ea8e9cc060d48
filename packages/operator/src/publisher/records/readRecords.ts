import { KeyrootError } from "keyroot/internal/errors";
import { describeValue } from "keyroot/internal/input";
import { checkKeyRecord, curve41417, type KeyRecord, type KeyType, parseKeyRecord } from "keyroot/internal/identity";
import { ArgumentError } from "../../errors.ts";
import { type IdColumn, parseCsvHeader, USER_ID_COLUMN } from "./csvRecords.ts";
import { type ByteStream, MAX_LINE_LENGTH, type OnRead, readLines } from "./readLines.ts";
import { RecordTable } from "./recordTable.ts";

/** A row that is not a valid record. */
export interface BadRow {
  /** The number of the line in the file, from 1. */
  line: number;
  code: string;
  message: string;
}

/** The content of a file of records. */
export interface RecordsRead {
  /** The valid records, sorted by user id. */
  records: RecordTable;
  /** The bad rows, in the order of the lines. */
  bad: BadRow[];
  /** The columns of a CSV file that were ignored, because a record has no such field. */
  ignoredColumns: readonly string[];
}

/**
 * The last field of a JSON record from `make-records`. It is the number of the input line from which the record was
 * made.
 */
const LINE_FIELD = /,"line":([1-9]\d{0,8})\}$/;

/**
 * Reads users' key records from a file or a stream, and checks every key as a verifier does. Empty lines are skipped.
 * If a user has a second record, its row is a bad row.
 *
 * A file whose name ends in `.csv` is CSV with a header (`parseCsvHeader`). Any other file, or a stream such as
 * standard input, has one JSON object per line. The last field of an object may be `line`, the number of the line from
 * which the record was made. Messages then name this line.
 * @param onRead receives the number of bytes read so far, and the size of the file in bytes
 * @param keyType the type of the registry's keys. Default: `curve41417`
 * @param idColumn the column of CSV rows with the users' ids or identifiers. If it is set, the source is always CSV
 * @throws ArgumentError FILE_UNREADABLE
 * @example
 * ```ts
 * const { records, bad } = await readRecords("users.jsonl");
 * for (const { line, message } of bad) console.error(`line ${line}: ${message}`);
 * ```
 */
export async function readRecords(
  source: string | ByteStream,
  onRead: OnRead = () => undefined,
  keyType: KeyType = curve41417,
  idColumn?: IdColumn,
): Promise<RecordsRead> {
  const isCsv = idColumn !== undefined || (typeof source === "string" && source.toLowerCase().endsWith(".csv"));
  let parse: ((text: string) => KeyRecord) | undefined;
  const lineField = isCsv ? undefined : LINE_FIELD;
  const records = RecordTable.empty(keyType);
  const bad: BadRow[] = [];
  let ignoredColumns: readonly string[] = [];
  const read = (text: string, line: number): void => {
    const isEmpty = text.trim() === "";
    if (!isCsv && !isEmpty) parse ??= parserOfJsonLines(text, keyType);
    if (text.length > MAX_LINE_LENGTH) {
      const message = `The line has more than ${MAX_LINE_LENGTH} characters.`;
      throw new ArgumentError("RECORD_INVALID", message, { expected: MAX_LINE_LENGTH });
    }
    if (isEmpty) return;
    if (parse === undefined) {
      ({ parse, ignoredColumns } = parseCsvHeader(text, keyType, idColumn ?? USER_ID_COLUMN));
      return;
    }
    const [field, source] = lineField?.exec(text) ?? [];
    const record = parse(field === undefined ? text : `${text.slice(0, -field.length)}}`);
    checkKeyRecord(record, keyType);
    records.add(record, source === undefined ? line : Number(source));
  };
  let line = 0;
  try {
    for await (const texts of readLines(source, onRead)) {
      for (const text of texts) {
        line++;
        try {
          read(text, line);
        } catch (error) {
          bad.push(badRow(line, error));
          // Without a valid first line, no row can be parsed.
          if (parse === undefined) return { records, bad, ignoredColumns };
        }
      }
    }
  } catch (error) {
    // Text in another encoding has no rows.
    if (!(error instanceof ArgumentError && error.code === "RECORD_INVALID")) throw error;
    return { records, bad: [badRow(1, error)], ignoredColumns };
  }
  for (const { userID, line, firstLine } of records.sortByUser()) {
    bad.push({
      line,
      code: "DUPLICATE_USER",
      message: `The user ${userID} already has a record in line ${firstLine}.`,
    });
  }
  return { records, bad: bad.sort((a, b) => a.line - b.line), ignoredColumns };
}

/**
 * Returns the parser for a file whose first line is the given one.
 * @throws ArgumentError RECORD_INVALID if this line is CSV
 */
function parserOfJsonLines(first: string, keyType: KeyType): (text: string) => KeyRecord {
  if (!/^[^{[]+[,;\t]/.test(first.trim())) return (text) => parseKeyRecord(text, keyType);
  const message = `The line ${describeValue(first)} looks like CSV, but CSV is read only from a file whose name ends in .csv. Rename the file, or write each record as a line of JSON.`;
  throw new ArgumentError("RECORD_INVALID", message, { expected: "JSON", actual: first });
}

function badRow(line: number, error: unknown): BadRow {
  if (!(error instanceof KeyrootError)) throw error;
  return { line, code: error.code, message: error.message };
}
