import { parse as parseCsv } from "csv-parse/sync";
import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { KeyrootError } from "keyroot/internal/errors";
import {
  checkKeyRecord,
  curve41417,
  type KeyRecord,
  type KeyType,
  parseKeyRecord,
  toKeyRecord,
} from "keyroot/internal/identity";
import { describeValue, printable } from "keyroot/internal/input";
import { unreadableInput } from "../../disk/fileErrors.ts";
import { ArgumentError } from "../../errors.ts";
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
}

/** A stream that counts the bytes read, from a file, a pipe or a socket. */
export type ByteStream = Readable & { readonly bytesRead: number };

type OnRead = (bytesRead: number, bytes: number) => void;

/** The maximum number of characters in a line. A record has about 250. */
const MAX_LINE_LENGTH = 4096;
/** The columns of a CSV file, sorted by name. A file may have these columns in any order. */
const FIELDS = ["keyID", "pubKey", "userID"].join();

/**
 * Reads users' key records from a file or a stream. A file with a name that ends in `.csv` is CSV with a header. Any
 * other file, and a stream such as standard input, has one JSON object per line. The function checks every key as a
 * verifier does. A second record of a user is a bad row. The function skips empty lines.
 * @param onRead receives the number of bytes read so far, and the size of the file in bytes
 * @param keyType the type of the registry's keys. Default: `curve41417`
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
): Promise<RecordsRead> {
  const isCsv = typeof source === "string" && source.toLowerCase().endsWith(".csv");
  let parse = isCsv ? undefined : (text: string) => parseKeyRecord(text, keyType);
  const records = RecordTable.empty(keyType);
  const bad: BadRow[] = [];
  const read = (text: string, line: number): void => {
    if (text.length > MAX_LINE_LENGTH) {
      const message = `The line has more than ${MAX_LINE_LENGTH} characters.`;
      throw new ArgumentError("RECORD_INVALID", message, { expected: MAX_LINE_LENGTH });
    }
    if (text.trim() === "") return;
    if (parse === undefined) {
      parse = csvParser(text, keyType);
      return;
    }
    const record = parse(text);
    checkKeyRecord(record, keyType);
    records.add(record, line);
  };
  let line = 0;
  for await (const texts of readLines(source, onRead)) {
    for (const text of texts) {
      line++;
      try {
        read(text, line);
      } catch (error) {
        if (!(error instanceof KeyrootError)) throw error;
        bad.push({ line, code: error.code, message: error.message });
        // Without a valid header, no row can be parsed.
        if (parse === undefined) return { records, bad };
      }
    }
  }
  for (const { userID, line, firstLine } of records.sortByUser()) {
    bad.push({
      line,
      code: "DUPLICATE_USER",
      message: `The user ${userID} already has a record in line ${firstLine}.`,
    });
  }
  return { records, bad: bad.sort((a, b) => a.line - b.line) };
}

/** Makes a parser for CSV rows with this header (RFC 4180, one row per line). @throws ArgumentError RECORD_INVALID */
function csvParser(header: string, keyType: KeyType): (line: string) => KeyRecord {
  const fields = parseCsvLine(header);
  if (fields.toSorted().join() !== FIELDS) {
    const actual = fields.join();
    const message = `The header must name the fields userID, pubKey and keyID, but it is ${describeValue(actual)}.`;
    throw new ArgumentError("RECORD_INVALID", message, { expected: FIELDS, actual });
  }
  return (line) => {
    const cells = parseCsvLine(line);
    if (cells.length !== fields.length) {
      const message = `The row has ${cells.length} fields, but the header has ${fields.length}.`;
      throw new ArgumentError("RECORD_INVALID", message, { expected: fields.length, actual: cells.length });
    }
    return toKeyRecord(Object.fromEntries(fields.map((field, i) => [field, cells[i]])), keyType);
  };
}

function parseCsvLine(line: string): string[] {
  const [cells = [], ...others] = parseCsvRows(line);
  if (others.length === 0) return cells;
  // Reject a line with a lone carriage return. The CSV parser ends a row there, so later rows of the line would be lost.
  const message = `The line has ${1 + others.length} rows. End each row with a line feed. A carriage return alone is not enough.`;
  throw new ArgumentError("RECORD_INVALID", message, { expected: 1, actual: 1 + others.length });
}

function parseCsvRows(line: string): string[][] {
  try {
    return parseCsv(line, { trim: true });
  } catch (cause) {
    throw new ArgumentError("RECORD_INVALID", `The row is not valid CSV: ${printable((cause as Error).message)}.`, {
      cause,
    });
  }
}

/** Yields the lines of a file or a stream. */
async function* readLines(source: string | ByteStream, onRead: OnRead): AsyncGenerator<string[]> {
  try {
    if (typeof source === "string") {
      await using file = await open(source);
      const { size } = await file.stat();
      yield* splitLines(file.createReadStream(), size, onRead);
    } else {
      yield* splitLines(source, 0, onRead);
    }
  } catch (cause) {
    if (cause instanceof KeyrootError || (cause as NodeJS.ErrnoException).code === undefined) throw cause;
    throw unreadableInput(typeof source === "string" ? source : "Standard input", cause);
  }
}

/**
 * Yields lines in groups, because single lines would take twice the time.
 * @param size the size of the file in bytes, or 0 for a pipe
 */
async function* splitLines(stream: ByteStream, size: number, onRead: OnRead): AsyncGenerator<string[]> {
  stream.setEncoding("utf8");
  let first = true;
  let rest = "";
  for await (const chunk of stream as AsyncIterable<string>) {
    const texts = (first ? chunk.replace(/^\ufeff/, "") : chunk).split(/\r?\n/);
    first = false;
    texts[0] = rest + (texts[0] ?? "");
    // Cut a line that is too long, to save memory. The line is still too long after the cut.
    rest = (texts.pop() ?? "").slice(0, MAX_LINE_LENGTH + 1);
    yield texts;
    onRead(stream.bytesRead, Math.max(stream.bytesRead, size));
  }
  yield [rest];
}
