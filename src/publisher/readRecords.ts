import { parse as parseCsv } from "csv-parse/sync";
import { open } from "node:fs/promises";
import { ArgumentError, type ErrorCode, KeyrootError } from "../errors.ts";
import { checkKeyRecord, type KeyRecord, parseKeyRecord, toKeyRecord } from "../identity/keyRecord.ts";
import type { UserID } from "../identity/userID.ts";

/** A row that is not a record to publish. */
export interface BadRow {
  /** The line in the file, counted from 1. */
  line: number;
  code: ErrorCode;
  message: string;
}

export interface RecordsRead {
  records: KeyRecord[];
  bad: BadRow[];
}

/** A record has some 250 characters. What is longer is cut, and is then no record. */
const MAX_LINE_LENGTH = 4096;

/**
 * Reads users' key records from a file: CSV with a header where its name ends in `.csv`, otherwise one JSON object a
 * line. Every key is checked as a verifier checks it, and no user may come twice. Empty lines are left out.
 * @param onLine is told after each line how many bytes of the file have been read, and how many it has
 * @throws ArgumentError FILE_UNREADABLE
 */
export async function readRecords(
  path: string,
  onLine: (bytesRead: number, bytes: number) => void = () => undefined,
): Promise<RecordsRead> {
  const parse = path.toLowerCase().endsWith(".csv") ? csvParser() : parseKeyRecord;
  const records: KeyRecord[] = [];
  const bad: BadRow[] = [];
  const lineOf = new Map<UserID, number>();
  for await (const { line, text } of readLines(path, onLine)) {
    if (text.trim() === "") continue;
    try {
      const record = parse(text);
      if (record === undefined) continue;
      checkKeyRecord(record);
      const first = lineOf.get(record.userID);
      if (first !== undefined) {
        const message = `The user ${record.userID} stands in line ${first} already.`;
        throw new ArgumentError("DUPLICATE_USER", message, { expected: first, actual: line });
      }
      lineOf.set(record.userID, line);
      records.push(record);
    } catch (error) {
      if (!(error instanceof KeyrootError)) throw error;
      bad.push({ line, code: error.code, message: error.message });
    }
  }
  return { records, bad };
}

/** A parser of CSV lines (RFC 4180, one row a line): the first names the fields and is no record itself. */
function csvParser(): (line: string) => KeyRecord | undefined {
  let fields: string[] | undefined;
  return (line) => {
    const cells = parseCsvLine(line);
    if (fields === undefined) {
      fields = cells;
      return undefined;
    }
    if (cells.length !== fields.length) {
      const message = `The row has ${cells.length} fields, the header names ${fields.length}.`;
      throw new ArgumentError("RECORD_INVALID", message, { expected: fields.length, actual: cells.length });
    }
    return toKeyRecord(Object.fromEntries(fields.map((field, i) => [field, cells[i]])));
  };
}

function parseCsvLine(line: string): string[] {
  try {
    const [cells]: string[][] = parseCsv(line, { trim: true });
    return cells ?? [];
  } catch (cause) {
    throw new ArgumentError("RECORD_INVALID", `The row is not CSV: ${(cause as Error).message}.`, { cause });
  }
}

async function* readLines(path: string, onLine: (bytesRead: number, bytes: number) => void) {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    const stream = file.createReadStream({ encoding: "utf8" });
    let line = 0;
    let rest = "";
    for await (const chunk of stream as AsyncIterable<string>) {
      const texts = (line === 0 && rest === "" ? chunk.replace(/^\ufeff/, "") : chunk).split(/\r?\n/);
      texts[0] = rest + (texts[0] ?? "");
      rest = (texts.pop() ?? "").slice(0, MAX_LINE_LENGTH);
      for (const text of texts) {
        yield { line: ++line, text };
        onLine(stream.bytesRead, size);
      }
    }
    yield { line: ++line, text: rest };
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (cause instanceof KeyrootError || code === undefined) throw cause;
    throw new ArgumentError("FILE_UNREADABLE", `${path} cannot be read: ${message}.`, { cause });
  }
}
