import { curve41417 } from "../identity/keyTypes/curve41417.ts";
import type { KeyType } from "../identity/keyTypes/keyType.ts";
import { type KeyRecord, parseSerializedRecord, serializedLength } from "../identity/serializedRecord.ts";
import { decodeDocument } from "../input/untrusted.ts";
import { fileOf, type MerkleFile } from "./fileOf.ts";
import { piecesOf } from "./nodes.ts";

/**
 * Maximum size of a Merkle-tree file in bytes. This is the length of the longest string in V8. It is enough for about
 * 660,000 users.
 */
const MAX_FILE_BYTES = 2 ** 29 - 24;

/** The text before the first value in a file that `serializeMerkleFile` wrote. */
const VALUES = '"values":[';
/** The end of a record in JSON, which occurs nowhere else in a record. */
const RECORD_END = '}"';

/** Decodes a file from an untrusted source. @throws VerificationError FILE_TOO_LARGE, FILE_NOT_UTF8, step "file" */
export function decodeFile(bytes: Uint8Array): string {
  return decodeDocument("The file", bytes, MAX_FILE_BYTES);
}

/**
 * Parses a file that `serializeMerkleFile` wrote, in half the time of `verifyMerkleFile`. It makes a new file from the
 * records in `values`, and compares the new file with `text`. It therefore never accepts a file that `verifyMerkleFile`
 * rejects.
 * @returns undefined for any other file, whether valid or invalid
 */
export function parseSerializedFile(text: string, root: string, keyType: KeyType = curve41417): MerkleFile | undefined {
  let file: MerkleFile;
  try {
    const values = readValues(text, serializedLength(keyType));
    file = fileOf(values, readRecords(values, keyType), keyType);
  } catch {
    // The caller then calls `verifyMerkleFile`, which throws an error with the problem.
    return undefined;
  }
  let end = 0;
  for (const piece of file.tree.root === root ? piecesOf(file) : []) {
    const start = end;
    end += piece.length;
    // `slice` is twice as fast as `startsWith` in V8.
    if (text.slice(start, end) !== piece) return undefined;
  }
  return end === text.length ? file : undefined;
}

/**
 * Reads the values of a file quickly, which only works if the records contain no spaces. The caller must check the
 * result.
 * @param minLength the minimum length of a record in characters. Reading stops at a shorter text, because many short
 * texts would take much more memory than the file.
 */
function readValues(text: string, minLength: number): string[] {
  const values: string[] = [];
  let start: number;
  let end = text.indexOf(VALUES) + VALUES.length - 1;
  do {
    start = end + 1;
    end = text.indexOf(RECORD_END, start) + RECORD_END.length;
    // Only strings are parsed, one by one. If a dishonest host sends other JSON, the parsed values could take much more
    // memory than the text.
    if (text[start] === '"') values.push(JSON.parse(text.slice(start, end)) as string);
  } while (text[end] === "," && end - start > minLength);
  return values;
}

/** Parses the file's records. @throws RangeError if a record does not have the form of `serializeKeyRecord` */
function readRecords(values: readonly string[], keyType: KeyType): KeyRecord[] {
  return values.map((value) => {
    const record = parseSerializedRecord(value, keyType);
    if (record) return record;
    throw new RangeError("A record has another form.");
  });
}
