import { describeValue } from "keyroot/internal/input";
import { ArgumentError, argumentInvalid } from "../../errors.ts";
import { FolderStore } from "./folderStore.ts";
import type { BesideFileOptions } from "./besideFile.ts";
import type { AccountFileStore, MerkleFileStore } from "./merkleFileStore.ts";

/**
 * Opens the store at a location.
 * @param location a folder's path, or `s3://<bucket>/<prefix>`, which requires the package `@aws-sdk/client-s3` (see
 *   `BucketStore`)
 * @param beside what to store beside each file
 * @throws ArgumentError ARGUMENT_INVALID for any other location, or if no region is set for a bucket;
 *   CONFIGURATION_INVALID if the package is not installed
 * @example
 * ```ts
 * const store = await openStore("s3://keyroot-files/prod");
 * ```
 */
export async function openStore(
  location: string,
  beside: BesideFileOptions = {},
): Promise<MerkleFileStore & AccountFileStore> {
  if (location.startsWith("s3://")) {
    const { BucketStore } = await importBucketStore();
    return BucketStore.open(location, {}, beside);
  }
  if (location === "" || /^[a-z][a-z0-9+.-]*:\/\//i.test(location)) {
    const message = `The location of files must be a folder or s3://<bucket>/<prefix>, not ${describeValue(location)}.`;
    throw argumentInvalid(message);
  }
  return new FolderStore(location, beside);
}

/** Loads the AWS SDK on demand. The SDK is an optional dependency that only buckets need. */
async function importBucketStore() {
  try {
    return await import("./bucketStore.ts");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    const message =
      "Storing files in a bucket needs the package @aws-sdk/client-s3, which is not installed. Run 'npm install @aws-sdk/client-s3'.";
    throw new ArgumentError("CONFIGURATION_INVALID", message, { cause });
  }
}
