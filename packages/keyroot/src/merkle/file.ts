import { type KeyRecord, parseKeyRecord, serializeKeyRecord } from "../identity/keyRecord.ts";
import type { UserID } from "../identity/userID.ts";
import { checkBuiltins } from "../input/builtins.ts";
import { isObject } from "../input/json.ts";
import { invalidArgument } from "../input/options.ts";
import { indexByUser } from "./lookup.ts";
import { PIECE, serializeNodes } from "./nodes.ts";
import { MerkleTree } from "./tree.ts";

/** The content of a Merkle-tree file: one record per user, in the order of the leaves. */
export interface MerkleFile {
  /** The exact texts of the records, whose hashes are the leaves. */
  values: readonly string[];
  /** The parsed records of `values`. */
  records: readonly KeyRecord[];
  /** The index of each user's record in `values`. */
  lookup: ReadonlyMap<UserID, number>;
  tree: MerkleTree;
}

/**
 * Makes a Merkle-tree file from records. The file contains the records sorted by `userID` in byte order.
 * @param records 1 to 1,000,000 records, one per user
 * @throws ArgumentError DUPLICATE_USER, DUPLICATE_VALUE, TREE_EMPTY, TREE_TOO_LARGE, ARGUMENT_INVALID, and the errors
 * of `parseKeyRecord`
 * @example
 * const file = makeMerkleFile(records);
 * await writeFile(`${file.tree.root}.json`, serializeMerkleFile(file));
 */
export function makeMerkleFile(records: readonly KeyRecord[]): MerkleFile {
  checkBuiltins();
  if (!Array.isArray(records)) throw invalidArgument("The argument records", "an array of key records", records);
  // All texts have the same length and begin with the user id, so sorting them sorts the ids. The array is copied
  // because `map` would skip holes.
  const values = [...(records as readonly KeyRecord[])].map((record) => serializeKeyRecord(record)).sort();
  // Parses the texts again, to make sure that every verifier accepts the file.
  return fileOf(values);
}

/**
 * Writes a Merkle-tree file as JSON without spaces. The keys have the same order as in the deployed files. The text is
 * returned in pieces, so that it can be longer than the longest string.
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const text = [...serializeMerkleFile(file)].join("");
 */
export function* serializeMerkleFile(file: MerkleFile): Generator<string> {
  yield* piecesOf(checkMerkleFile(file));
}

/** Returns the JSON of a Merkle-tree file in pieces. */
export function* piecesOf({ values, lookup, tree }: MerkleFile): Generator<string> {
  yield `{"merkle":{"root":"${tree.root}","hashalgo":"sha256","leaves":${tree.leafCount},"levels":${tree.height}`;
  for (const nodes of serializeNodes(tree)) yield `,${nodes}`;
  yield `},"values":[`;
  for (let i = 0; i < values.length; i += PIECE) {
    yield (i === 0 ? "" : ",") + JSON.stringify(values.slice(i, i + PIECE)).slice(1, -1);
  }
  const lines = [...lookup.keys()].map((userID, i) => `"${userID}":${i}`);
  yield `],"lookup":{${lines.join()}}}`;
}

/** Checks that a value is a MerkleFile, and returns it. @throws ArgumentError ARGUMENT_INVALID */
export function checkMerkleFile(file: unknown): MerkleFile {
  checkBuiltins();
  if (isObject(file) && Array.isArray(file["values"]) && file["lookup"] instanceof Map && isObject(file["tree"])) {
    return file as unknown as MerkleFile;
  }
  throw invalidArgument("The argument file", "a result of makeMerkleFile or parseMerkleFile", file);
}

/**
 * Makes a Merkle-tree file from the texts of its records.
 * @throws ArgumentError as `makeMerkleFile`
 */
export function fileOf(values: readonly string[]): MerkleFile {
  const records = values.map(parseKeyRecord);
  return { values, records, lookup: indexByUser(records, values), tree: new MerkleTree(values) };
}
