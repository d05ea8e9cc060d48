import { type KeyRecord, parseKeyRecord, serializeKeyRecord } from "../identity/keyRecord.ts";
import type { UserID } from "../identity/userID.ts";
import { decodeDocument } from "../input/document.ts";
import { isObject } from "../input/json.ts";
import { invalidArgument } from "../input/options.ts";
import { checkMerkleRoot } from "./hash.ts";
import { indexByUser } from "./lookup.ts";
import { PIECE, serializeNodes } from "./nodes.ts";
import { parseAnyFile } from "./parseAnyFile.ts";
import { MerkleTree } from "./tree.ts";

/** The maximum size of a file in bytes: that of the longest string in V8, about 660,000 users. */
const MAX_FILE_BYTES = 2 ** 29 - 24;

/** The text before the first value in a file as `serializeMerkleFile` writes it. */
const VALUES = '"values":[';
/** The end of a record in JSON. No other part of the record contains it. */
const RECORD_END = '}"';
/** Fewer characters than a record has in JSON. Many shorter texts would take much more memory than the file. */
const MIN_RECORD = 200;

/** The content of a Merkle-tree file: one record per user, in the order of the leaves. */
export interface MerkleFile {
  /** The exact texts that are hashed as leaves. */
  values: readonly string[];
  /** The records in `values`, parsed. */
  records: readonly KeyRecord[];
  /** The index in `values` of each user's record. */
  lookup: ReadonlyMap<UserID, number>;
  tree: MerkleTree;
}

/**
 * Makes the file of these users' records, sorted by `userID` in byte order.
 * @param records 1 to 1,000,000 records, one per user
 * @throws ArgumentError DUPLICATE_USER, DUPLICATE_VALUE, TREE_EMPTY, TREE_TOO_LARGE, ARGUMENT_INVALID, and as
 * `parseKeyRecord`
 * @example
 * const file = makeMerkleFile(records);
 * await writeFile(`${file.tree.root}.json`, serializeMerkleFile(file));
 */
export function makeMerkleFile(records: readonly KeyRecord[]): MerkleFile {
  if (!Array.isArray(records)) throw invalidArgument("The argument records", "an array of key records", records);
  // Texts with the ids in front, all equally long: their order is the order of the ids.
  // Not `map`, which skips the holes of an array.
  const values = Array.from(records as readonly KeyRecord[], (record) => serializeKeyRecord(record)).sort();
  // Parses the texts again, so that the file contains only what every verifier accepts.
  return fileOf(values);
}

/**
 * Writes a file as JSON in pieces, so that a file of any size can be written. The order of the keys is that of the
 * deployed files, without spaces.
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const text = [...serializeMerkleFile(file)].join("");
 */
export function* serializeMerkleFile(file: MerkleFile): Generator<string> {
  yield* piecesOf(checkMerkleFile(file));
}

function* piecesOf({ values, lookup, tree }: MerkleFile): Generator<string> {
  yield `{"merkle":{"root":"${tree.root}","hashalgo":"sha256","leaves":${tree.leafCount},"levels":${tree.height}`;
  for (const nodes of serializeNodes(tree)) yield `,${nodes}`;
  yield `},"values":[`;
  for (let i = 0; i < values.length; i += PIECE) {
    yield (i === 0 ? "" : ",") + JSON.stringify(values.slice(i, i + PIECE)).slice(1, -1);
  }
  // Not `Array.from`, which some libraries replace.
  const lines = [...lookup.keys()].map((userID, i) => `"${userID}":${i}`);
  yield `],"lookup":{${lines.join()}}}`;
}

/**
 * Parses and verifies a file from an untrusted source. Rebuilds the whole tree from `values`, and requires one record per
 * user, the given root, and exactly the `lookup` and `merkle` that follow from `values`. Checks the form of all records;
 * `checkKeyRecord` checks the key in a record. A file as `serializeMerkleFile` writes it is parsed faster than any other.
 * @param bytes the file as it was served
 * @param root the root from the contract or the file's name: 64 lowercase hex digits
 * @throws VerificationError, step "file": FILE_TOO_LARGE, FILE_NOT_UTF8, FILE_SHAPE, FILE_UNKNOWN_KEY,
 * HASH_NOT_LOWERCASE, FILE_HASH_ALGORITHM, VALUE_LOOKS_LIKE_NODE, DUPLICATE_VALUE, DUPLICATE_USER, LOOKUP_MISMATCH,
 * TREE_EMPTY, TREE_TOO_LARGE, and as `parseJson` and `parseKeyRecord`; step "tree": ROOT_MISMATCH, TREE_MISMATCH
 * @throws ArgumentError HASH_INVALID, ARGUMENT_INVALID
 * @example
 * const { records, lookup } = parseMerkleFile(await readFile(`${root}.json`), root);
 */
export function parseMerkleFile(bytes: Uint8Array, root: string): MerkleFile {
  checkMerkleRoot(root);
  if (!(bytes instanceof Uint8Array)) throw invalidArgument("The argument bytes", "a Uint8Array", bytes);
  const text = decodeDocument("The file", bytes, MAX_FILE_BYTES);
  return parseSerializedFile(text, root) ?? parseAnyFile(text, root);
}

/** Returns `file` if it has the parts of a MerkleFile. @throws ArgumentError ARGUMENT_INVALID */
export function checkMerkleFile(file: unknown): MerkleFile {
  if (isObject(file) && Array.isArray(file["values"]) && file["lookup"] instanceof Map && isObject(file["tree"])) {
    return file as unknown as MerkleFile;
  }
  throw invalidArgument("The argument file", "a result of makeMerkleFile or parseMerkleFile", file);
}

/**
 * Parses a file as `serializeMerkleFile` writes it, in half the time of `parseAnyFile`: reads only the records in `values`,
 * makes their file, and compares its text with all of `text`. So it accepts no file that `parseAnyFile` rejects.
 * @returns undefined for any other file, valid or not
 */
export function parseSerializedFile(text: string, root: string): MerkleFile | undefined {
  let file: MerkleFile;
  try {
    file = fileOf(readValues(text));
  } catch {
    // `parseAnyFile` throws an error that says what is wrong.
    return undefined;
  }
  let end = 0;
  for (const piece of file.tree.root === root ? piecesOf(file) : []) {
    const start = end;
    end += piece.length;
    // V8 takes twice as long for `startsWith`.
    if (text.slice(start, end) !== piece) return undefined;
  }
  return end === text.length ? file : undefined;
}

/** The values of a file, if each is a record without spaces. */
function readValues(text: string): string[] {
  const values: string[] = [];
  let start: number;
  let end = text.indexOf(VALUES) + VALUES.length - 1;
  do {
    start = end + 1;
    end = text.indexOf(RECORD_END, start) + RECORD_END.length;
    // Not all values at once: other JSON than strings could take much more memory than its text.
    if (text[start] === '"') values.push(JSON.parse(text.slice(start, end)) as string);
  } while (text[end] === "," && end - start > MIN_RECORD);
  return values;
}

function fileOf(values: readonly string[]): MerkleFile {
  const records = values.map(parseKeyRecord);
  return { values, records, lookup: indexByUser(records, values), tree: new MerkleTree(values) };
}
