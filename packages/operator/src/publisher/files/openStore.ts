import { describeValue } from "keyroot/input";
import { ArgumentError } from "keyroot/errors";
import { FolderStore, type MerkleFileStore } from "./folderStore.ts";

/**
 * Opens the store that an operator names: `s3://<bucket>/<prefix>`, or a folder's path.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export async function openStore(out: string): Promise<MerkleFileStore> {
  if (out.startsWith("s3://")) {
    // Only who uses it pays for loading the SDK.
    const { BucketStore } = await import("./bucketStore.ts");
    return BucketStore.open(out);
  }
  if (out === "" || /^[a-z][a-z0-9+.-]*:\/\//i.test(out)) {
    const message = `Files are stored in a folder or under s3://<bucket>/<prefix>, not under ${describeValue(out)}.`;
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
  return new FolderStore(out);
}
