import { curve41417 } from "../identity/keyTypes/curve41417.ts";
import { checkKeyType, type KeyType } from "../identity/keyTypes/keyType.ts";
import { invalidArgument } from "../input/options.ts";
import type { MerkleFile } from "./fileOf.ts";
import { checkMerkleRoot } from "./hash.ts";
import { decodeFile, parseSerializedFile } from "./parseSerializedFile.ts";
import { verifyMerkleFile } from "./verifyMerkleFile.ts";
import { isBytes } from "../input/values.ts";

/**
 * Parses and verifies an untrusted Merkle-tree file. The tree that is computed from `values` must have the given root,
 * and the file must meet these conditions:
 * - It has one record per user, and each record has the right form.
 * - `lookup` and the nodes in `merkle` match `values` exactly.
 * - The header keys of `merkle` are correct or missing.
 *
 * To check the public keys themselves, call `checkKeyRecord`. Files that `serializeMerkleFile` wrote are parsed faster
 * than other files.
 * @param bytes the received file
 * @param root the root from the contract or the file's name, 64 lowercase hex digits
 * @param keyType the type of the registry's keys. Default: `curve41417`
 * @throws VerificationError FILE_TOO_LARGE, FILE_NOT_UTF8, FILE_SHAPE, FILE_UNKNOWN_KEY, HASH_NOT_LOWERCASE,
 * FILE_HASH_ALGORITHM, VALUE_LOOKS_LIKE_NODE, DUPLICATE_VALUE, DUPLICATE_USER, LOOKUP_MISMATCH, TREE_EMPTY,
 * TREE_TOO_LARGE, or an error of `parseJson` or `parseKeyRecord`, step "file"; ROOT_MISMATCH or TREE_MISMATCH, step
 * "tree"
 * @throws ArgumentError HASH_INVALID, ARGUMENT_INVALID
 * @example
 * const { records, lookup } = parseMerkleFile(await readFile(`${root}.json`), root);
 */
export function parseMerkleFile(bytes: Uint8Array, root: string, keyType: KeyType = curve41417): MerkleFile {
  checkKeyType(keyType);
  checkMerkleRoot(root);
  if (!isBytes(bytes)) throw invalidArgument("The bytes argument", "a Uint8Array", bytes);
  const text = decodeFile(bytes);
  return parseSerializedFile(text, root, keyType) ?? verifyMerkleFile(text, root, keyType);
}
