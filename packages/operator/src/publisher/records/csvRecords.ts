import { parse as parseCsv } from "csv-parse/sync";
import { base64ToBytes } from "keyroot/internal/bytes";
import {
  type KeyRecord,
  type KeyType,
  makeKeyRecord,
  parseUserID,
  toKeyRecord,
  type UserID,
  userIDFromHex,
} from "keyroot/internal/identity";
import { describeValue, printable } from "keyroot/internal/input";
import { ArgumentError } from "../../errors.ts";

/** The column that says whose key a row contains. */
export interface IdColumn {
  name: string;
  /** Returns the user id for a cell of the column. */
  toUserID: (cell: string) => UserID;
}

/** The column with user ids: 32 characters of zBase32, or 40 hex digits. */
export const USER_ID_COLUMN: IdColumn = {
  name: "userID",
  toUserID: (cell) => (/^[0-9a-f]{40}$/i.test(cell) ? userIDFromHex(cell.toLowerCase()) : parseUserID(cell)),
};

/** What separates cells. Spreadsheet programs write semicolons where a comma is the decimal sign. */
const SEPARATORS = [",", ";", "\t"];

/** A parser for the rows below a CSV header. */
export interface CsvRows {
  parse: (line: string) => KeyRecord;
  ignoredColumns: readonly string[];
}

/**
 * Parses the header of a CSV file (RFC 4180, one row per line). The header names the columns, in any order. The column
 * `pubKey` is in base64 or hex. Without a column `keyID`, the key ids are computed. Other columns are ignored.
 * @throws ArgumentError RECORD_INVALID if a column is missing or named twice
 */
export function parseCsvHeader(header: string, keyType: KeyType, id: IdColumn): CsvRows {
  const required = [id.name, "pubKey"];
  const hasRequired = (columns: readonly string[]) => required.every((name) => columns.includes(name));
  const separator = SEPARATORS.find((each) => hasRequired(columnsOf(header, each)));
  if (separator === undefined) {
    const actual = parseCsvLine(header, ",").join();
    const missing = required.filter((name) => !SEPARATORS.some((each) => columnsOf(header, each).includes(name)));
    const message = `The header must name the columns ${required.join(" and ")}, but it is ${describeValue(actual)}. Rename or add ${missing.join(" and ")}: uppercase and lowercase letters differ.`;
    throw new ArgumentError("RECORD_INVALID", message, { expected: required.join(), actual });
  }
  const columns = parseCsvLine(header, separator);
  const used = [...required, "keyID"];
  const twice = used.find((name) => columns.indexOf(name) !== columns.lastIndexOf(name));
  if (twice !== undefined) {
    const message = `The header names the column ${twice} twice. Remove one of the two columns.`;
    throw new ArgumentError("RECORD_INVALID", message, { actual: twice });
  }
  const [idAt, keyAt, keyIDAt] = used.map((name) => columns.indexOf(name)) as [number, number, number];
  const parse = (line: string): KeyRecord => {
    const cells = parseCsvLine(line, separator);
    if (cells.length !== columns.length) {
      const message = `The row has ${cells.length} fields, but the header has ${columns.length}.`;
      throw new ArgumentError("RECORD_INVALID", message, { expected: columns.length, actual: cells.length });
    }
    return toRecord(id.toUserID(cells[idAt] ?? ""), cells[keyAt] ?? "", cells[keyIDAt] ?? "", keyType);
  };
  return { parse, ignoredColumns: columns.filter((name) => !used.includes(name)) };
}

/** Returns the names in a header. Returns none if it is not CSV with this separator. */
function columnsOf(header: string, separator: string): string[] {
  try {
    return parseCsvLine(header, separator);
  } catch (error) {
    if (error instanceof ArgumentError) return [];
    throw error;
  }
}

function toRecord(userID: UserID, key: string, keyID: string, keyType: KeyType): KeyRecord {
  const [, hex] = /^(?:0x)?((?:[0-9a-f]{2})+)$/i.exec(key) ?? [];
  // Base64 of the key's length may consist of hex digits only.
  const isBase64 = key.length === 4 * Math.ceil(keyType.length / 3);
  const pubKey = hex !== undefined && !isBase64 ? Buffer.from(hex, "hex").toString("base64") : key;
  if (keyID === "") return makeKeyRecord(userID, base64ToBytes(pubKey), keyType);
  return toKeyRecord({ userID, pubKey, keyID }, keyType);
}

function parseCsvLine(line: string, separator: string): string[] {
  const [cells = [], ...others] = parseCsvRows(line, separator);
  if (others.length === 0) return cells;
  // Reject a line that contains a carriage return. The CSV parser would treat it as the end of the row, and the rest of
  // the line would be lost.
  const message = `The line has ${1 + others.length} rows. End each row with a line feed. A carriage return alone is not enough.`;
  throw new ArgumentError("RECORD_INVALID", message, { expected: 1, actual: 1 + others.length });
}

function parseCsvRows(line: string, separator: string): string[][] {
  try {
    return parseCsv(line, { trim: true, delimiter: separator });
  } catch (cause) {
    throw new ArgumentError("RECORD_INVALID", `The row is not valid CSV: ${printable((cause as Error).message)}.`, {
      cause,
    });
  }
}
