import { parse as parseCsv } from "csv-parse/browser/esm/sync";
import { toBase64 } from "../../shared/keyText.ts";
import { readUserID } from "../../shared/readUserID.ts";

/** Maximum number of contacts in a list. */
const MAX_CONTACTS = 1000;
const KEY_ID_BYTES = 16;

/** A contact of a list, or the reason why its row cannot be used. */
export type ListedContact =
  | { userID: string; publicKey: string | undefined; keyID: string | undefined; account: string | undefined }
  | { userID: string; problem: string };

/** The registry's contract, whose address is no user id, and the number of bytes of its keys. */
interface ListedIn {
  contract: string;
  keyBytes: number;
}

/**
 * Parses a contact list: CSV (RFC 4180) with a header, or a JSON array of objects. Both have `userID`, and optionally
 * `publicKey` (or `pubKey`), `keyID` and `account`. Keys and key ids are in base64 or hex, user ids in zBase32 or hex.
 * @throws RangeError if the file is not a contact list
 */
export function parseContactList(bytes: Uint8Array, listed: ListedIn): ListedContact[] {
  const text = new TextDecoder().decode(bytes);
  const rows = /^\s*\[/.test(text) ? parseJsonRows(text) : parseCsvRows(text);
  if (rows.length === 0) throw new RangeError("The file has no contacts.");
  if (rows.length > MAX_CONTACTS)
    throw new RangeError(`A list has at most ${MAX_CONTACTS} contacts, but this file has ${rows.length}. Split it.`);
  return rows.map((row) => toContact(row, listed));
}

function parseJsonRows(text: string): Record<string, unknown>[] {
  try {
    const rows = JSON.parse(text) as unknown[];
    return rows.map((row) => (typeof row === "object" && row !== null ? { ...row } : {}));
  } catch {
    throw new RangeError("The file begins as JSON, but it is not valid JSON.");
  }
}

function parseCsvRows(text: string): Record<string, unknown>[] {
  let rows: string[][];
  try {
    const options = { bom: true, trim: true, skip_empty_lines: true, delimiter: [",", ";", "\t"] };
    rows = parseCsv(text, { ...options, to: MAX_CONTACTS + 2 });
  } catch (error) {
    throw new RangeError(`The file is not valid CSV: ${(error as Error).message}.`);
  }
  const [header = [], ...others] = rows;
  if (!header.includes("userID"))
    throw new RangeError("The first line must name the columns: userID, and publicKey or keyID.");
  return others.map((cells) => Object.fromEntries(header.map((name, i) => [name, cells[i]])));
}

function toContact(row: Record<string, unknown>, { contract, keyBytes }: ListedIn): ListedContact {
  const cell = (name: string) => (typeof row[name] === "string" ? row[name].trim() : "");
  const read = readUserID(cell("userID"), contract);
  if ("error" in read) return { userID: cell("userID").slice(0, 40), problem: read.error };
  const { userID } = read;
  const given = { publicKey: cell("publicKey") || cell("pubKey"), keyID: cell("keyID") };
  const publicKey = toBase64(given.publicKey, keyBytes);
  const keyID = toBase64(given.keyID, KEY_ID_BYTES);
  if (given.publicKey !== "" && publicKey === undefined)
    return { userID, problem: `A key has ${4 * Math.ceil(keyBytes / 3)} characters or ${2 * keyBytes} hex digits.` };
  if (given.keyID !== "" && keyID === undefined)
    return { userID, problem: `A key id has 24 characters or ${2 * KEY_ID_BYTES} hex digits.` };
  const account = typeof row["account"] === "string" && row["account"] !== "" ? row["account"] : undefined;
  return { userID, publicKey, keyID, account };
}
