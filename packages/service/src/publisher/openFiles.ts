import { type MerkleFileStore, openStore } from "@keyroot/operator/publisher";

/**
 * Opens a region's store of Merkle-tree files. Beside each file it keeps a copy that is compressed with Brotli, for
 * hosts that do not compress.
 */
export function openFiles(location: string): Promise<MerkleFileStore> {
  return openStore(location, { brotli: true });
}
