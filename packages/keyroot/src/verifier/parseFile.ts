import { loadModule } from "../engine/loadModule.ts";
import type { KeyType } from "../identity/keyTypes/keyType.ts";
import type { MerkleFile } from "../merkle/fileOf.ts";
import { decodeFile, parseSerializedFile } from "../merkle/parseSerializedFile.ts";

/**
 * Does the same as `parseMerkleFile`, but loads the code for other forms of files on demand, so that apps load less at
 * the start.
 * @throws VerificationError as `parseMerkleFile`
 */
export async function parseFile(bytes: Uint8Array, root: string, keyType?: KeyType): Promise<MerkleFile> {
  const text = decodeFile(bytes);
  const file = parseSerializedFile(text, root, keyType);
  return (
    file ?? (await loadModule(() => import("../merkle/verifyMerkleFile.ts"))).verifyMerkleFile(text, root, keyType)
  );
}
