import { bytesToHex } from "../bytes/hex.ts";
import { encodeUtf8 } from "../engine/utf8.ts";
import { EnvironmentError } from "../errors.ts";
import type { UserID } from "../identity/userID.ts";
import { invalidArgument } from "../input/options.ts";
import type { MerkleFile } from "./fileOf.ts";
import { hashChildren, hashLeaf } from "./hash.ts";
import { parseSerializedFile } from "./parseSerializedFile.ts";
import { hashAt } from "./tree.ts";
import { verifyMerkleFile } from "./verifyMerkleFile.ts";

/** A function that returns SHA-256 of the data as 32 bytes, not as a promise. */
export type Sha256 = (data: Uint8Array) => Uint8Array;

const HASH_BYTES = 32;

/**
 * Parses and verifies a file that `serializeMerkleFile` did not write, or any file with the app's own hash function.
 *
 * With the app's function, the built-in function computes the users' paths to the root again. If a hash differs, only
 * the result of the built-in function counts. Therefore, a wrong function never causes the rejection of a valid file.
 * @param text the whole file
 * @param root 64 lowercase hex digits
 * @throws EnvironmentError SHA256_INVALID; VerificationError as `verifyMerkleFile`
 */
export function parseAnyFile(
  text: string,
  root: string,
  sha256: Sha256 | undefined,
  userIDs: readonly UserID[],
): MerkleFile {
  if (!sha256) return verifyMerkleFile(text, root);
  let cause: unknown;
  const hash = (text: string): string => {
    try {
      const digest = sha256(encodeUtf8(text));
      if (digest instanceof Uint8Array && digest.length === HASH_BYTES) return bytesToHex(digest);
      throw invalidArgument("The result of sha256", `a Uint8Array of ${HASH_BYTES} bytes`, digest);
    } catch (error) {
      cause = error;
      throw error;
    }
  };
  const file = parseSerializedFile(text, root, hash);
  if (file && userIDs.every((userID) => isUnderRoot(file, userID))) return file;
  if (parseSerializedFile(text, root) === undefined) return verifyMerkleFile(text, root);
  const message = `The sha256 function fails or returns a wrong hash. The file ${root}.json is valid. Correct or omit the option.`;
  throw new EnvironmentError("SHA256_INVALID", message, { cause });
}

/**
 * Checks with the built-in function that a user's record leads to the root. Returns true if the file has no record of
 * the user.
 */
function isUnderRoot({ lookup, values, tree }: MerkleFile, userID: UserID): boolean {
  let index = lookup.get(userID);
  const value = index === undefined ? undefined : values[index];
  if (index === undefined || value === undefined) return true;
  let hash = hashLeaf(value);
  for (let level = 0; level < tree.height - 1; level++) {
    const sibling = hashAt(tree.joinedHashes(level), index ^ 1) || hash;
    hash = index % 2 === 1 ? hashChildren(sibling, hash) : hashChildren(hash, sibling);
    index >>= 1;
  }
  return hash === tree.root;
}
