import type { UserID } from "../identity/userID.ts";
import type { MerkleFile } from "../merkle/fileOf.ts";
import { decodeFile, parseSerializedFile } from "../merkle/parseSerializedFile.ts";
import type { Sha256 } from "../merkle/parseAnyFile.ts";

/**
 * Does the same as `parseMerkleFile`. Loads the code for other forms of files, and for other hash functions, on demand.
 * Apps therefore load less code at the start.
 * @param sha256 the `sha256` option of the verifier
 * @param userIDs the users with records that the caller reads
 * @throws VerificationError as `parseMerkleFile`; EnvironmentError SHA256_INVALID
 */
export async function parseFile(
  bytes: Uint8Array,
  root: string,
  sha256: Sha256 | undefined,
  userIDs: readonly UserID[],
): Promise<MerkleFile> {
  const text = decodeFile(bytes);
  const file = sha256 ? undefined : parseSerializedFile(text, root);
  return file ?? (await import("../merkle/parseAnyFile.ts")).parseAnyFile(text, root, sha256, userIDs);
}
