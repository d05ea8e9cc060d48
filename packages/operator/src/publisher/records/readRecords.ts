import { parse as parseCsv } from "csv-parse/sync";
import { open } from "node:fs/promises";
import { describeValue, printable } from "keyroot/input";
import { ArgumentError, type ErrorCode, KeyrootError } from "keyroot/errors";
import { checkKeyRecord, type KeyRecord, parseKeyRecord, toKeyRecord } from "keyroot/identity";
import { RecordTable } from "./recordTable.ts";

/** A row that is not a record to publish. */
export interface BadRow {
  /** The line in the file, counted from 1. */
  line: number;
  code: ErrorCode;
  message: string;
}

export interface RecordsRead {
  /** In the order of their users. */
  records: RecordTable;
  bad: BadRow[];
}

/** A record has some 250 characters. */
const MAX_LINE_LENGTH = 4096;
/** The columns of CSV, in any order. */
const FIELDS = ["keyID", "pubKey", "userID"].join();

/**
 * Reads users' key records from a file: CSV with a header where its name ends in `.csv`, otherwise one JSON object a
 * line. Every key is checked as a verifier checks it, and no user may come twice. Empty lines are left out.
 * @param onRead is told again and again how many bytes of the file have been read, and how many it has
 * @throws ArgumentError FILE_UNREADABLE
 */
export async function readRecords(
  path: string,
  onRead: (bytesRead: number, bytes: number) => void = () => undefined,
): Promise<RecordsRead> {
  let parse = path.toLowerCase().endsWith(".csv") ? undefined : parseKeyRecord;
  const records = RecordTable.empty();
  const bad: BadRow[] = [];
  const read = (text: string, line: number): void => {
    if (text.length > MAX_LINE_LENGTH) {
      const message = `The line has more than ${MAX_LINE_LENGTH} characters.`;
      throw new ArgumentError("RECORD_INVALID", message, { expected: MAX_LINE_LENGTH });
    }
    if (text.trim() === "") return;
    if (parse === undefined) {
      parse = csvParser(text);
      return;
    }
    const record = parse(text);
    checkKeyRecord(record);
    records.add(record, line);
  };
  let line = 0;
  for await (const texts of readLines(path, onRead)) {
    for (const text of texts) {
      line++;
      try {
        read(text, line);
      } catch (error) {
        if (!(error instanceof KeyrootError)) throw error;
        bad.push({ line, code: error.code, message: error.message });
        // Without a header no row can be read.
        if (parse === undefined) return { records, bad };
      }
    }
  }
  for (const { userID, line, firstLine } of records.settle()) {
    bad.push({ line, code: "DUPLICATE_USER", message: `The user ${userID} stands in line ${firstLine} already.` });
  }
  return { records, bad: bad.sort((a, b) => a.line - b.line) };
}

/** A parser of CSV lines (RFC 4180, one row a line) under this header. @throws ArgumentError RECORD_INVALID */
function csvParser(header: string): (line: string) => KeyRecord {
  const fields = parseCsvLine(header);
  if (fields.toSorted().join() !== FIELDS) {
    const actual = fields.join();
    const message = `The first line must name the fields userID, pubKey and keyID, it is ${describeValue(actual)}.`;
    throw new ArgumentError("RECORD_INVALID", message, { expected: FIELDS, actual });
  }
  return (line) => {
    const cells = parseCsvLine(line);
    if (cells.length !== fields.length) {
      const message = `The row has ${cells.length} fields, the header names ${fields.length}.`;
      throw new ArgumentError("RECORD_INVALID", message, { expected: fields.length, actual: cells.length });
    }
    return toKeyRecord(Object.fromEntries(fields.map((field, i) => [field, cells[i]])));
  };
}

function parseCsvLine(line: string): string[] {
  const [cells = [], ...others] = parseCsvRows(line);
  if (others.length === 0) return cells;
  // Of a lone carriage return, CSV makes the end of a row: none may be lost.
  const message = `The line has ${1 + others.length} rows: rows end in a line feed, not in a carriage return alone.`;
  throw new ArgumentError("RECORD_INVALID", message, { expected: 1, actual: 1 + others.length });
}

function parseCsvRows(line: string): string[][] {
  try {
    return parseCsv(line, { trim: true });
  } catch (cause) {
    throw new ArgumentError("RECORD_INVALID", `The row is not CSV: ${printable((cause as Error).message)}.`, { cause });
  }
}

/** The lines of a file, many at a time: handing them out one by one would take as long as reading them. */
async function* readLines(path: string, onRead: (bytesRead: number, bytes: number) => void): AsyncGenerator<string[]> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    const stream = file.createReadStream({ encoding: "utf8" });
    let first = true;
    let rest = "";
    for await (const chunk of stream as AsyncIterable<string>) {
      const texts = (first ? chunk.replace(/^\ufeff/, "") : chunk).split(/\r?\n/);
      first = false;
      texts[0] = rest + (texts[0] ?? "");
      // What is too long stays too long when it is cut.
      rest = (texts.pop() ?? "").slice(0, MAX_LINE_LENGTH + 1);
      yield texts;
      // A pipe has no size.
      onRead(stream.bytesRead, Math.max(stream.bytesRead, size));
    }
    yield [rest];
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (cause instanceof KeyrootError || code === undefined) throw cause;
    throw new ArgumentError("FILE_UNREADABLE", `${path} cannot be read: ${message}.`, { cause });
  }
}
