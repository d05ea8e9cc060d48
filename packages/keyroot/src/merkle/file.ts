import { curve41417 } from "../identity/keyTypes/curve41417.ts";
import { checkKeyType, type KeyType } from "../identity/keyTypes/keyType.ts";
import { parseKeyRecord } from "../identity/keyRecord.ts";
import type { KeyRecord } from "../identity/serializedRecord.ts";
import { serializeKeyRecord } from "../identity/serializeKeyRecord.ts";
import { isObject } from "../input/values.ts";
import { invalidArgument } from "../input/options.ts";
import { fileOf, type MerkleFile } from "./fileOf.ts";
import { piecesOf } from "./nodes.ts";

/**
 * Makes a Merkle-tree file from records, which it sorts by `userID` in byte order.
 * @param records 1 to 1,000,000 records, one per user
 * @param keyType the type of the registry's keys. Default: `curve41417`
 * @throws ArgumentError DUPLICATE_USER, DUPLICATE_VALUE, TREE_EMPTY, TREE_TOO_LARGE, ARGUMENT_INVALID, or an error of
 * `parseKeyRecord`
 * @example
 * const file = makeMerkleFile(records);
 * await writeFile(`${file.tree.root}.json`, serializeMerkleFile(file));
 */
export function makeMerkleFile(records: readonly KeyRecord[], keyType: KeyType = curve41417): MerkleFile {
  checkKeyType(keyType);
  if (!Array.isArray(records)) throw invalidArgument("The records argument", "an array of key records", records);
  // All texts begin with the same characters and the user id, so sorting the texts sorts the user ids. The array is
  // copied first, because `map` skips holes.
  const values = [...(records as readonly KeyRecord[])].map((record) => serializeKeyRecord(record)).sort();
  // The texts are parsed again, so that verifiers accept every file.
  return fileOf(
    values,
    values.map((value) => parseKeyRecord(value, keyType)),
    keyType,
  );
}

/**
 * Writes a Merkle-tree file as JSON without spaces, with the keys in the same order as in the deployed files. The text
 * is yielded in pieces, because it can be too long for one string.
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const text = [...serializeMerkleFile(file)].join("");
 */
export function* serializeMerkleFile(file: MerkleFile): Generator<string> {
  yield* piecesOf(checkMerkleFile(file));
}

/** Checks that a value is a MerkleFile, and returns the value. @throws ArgumentError ARGUMENT_INVALID */
export function checkMerkleFile(file: unknown): MerkleFile {
  if (isObject(file) && Array.isArray(file["values"]) && file["lookup"] instanceof Map && isObject(file["tree"])) {
    return file as unknown as MerkleFile;
  }
  throw invalidArgument("The file argument", "a result of makeMerkleFile or parseMerkleFile", file);
}
