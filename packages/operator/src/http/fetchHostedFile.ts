import { TransportError } from "keyroot/internal/errors";
import { fetchMerkleFile } from "keyroot/internal/transport";

/** What else a file host's error may mean, by its code or status. */
const REMEDIES: Readonly<Record<string, string>> = {
  REDIRECT_REFUSED: "Use the final address. A host may also redirect if a file is missing.",
  // Object stores report a missing file as forbidden if the reader may not list the bucket.
  403: "The file may be missing: check the store's rights, such as s3:ListBucket.",
};

/** Fetches a Merkle-tree file as `fetchMerkleFile`. @throws the errors of `fetchMerkleFile`, with the operator's remedy */
export async function fetchHostedFile(...args: Parameters<typeof fetchMerkleFile>): Promise<Uint8Array> {
  try {
    return await fetchMerkleFile(...args);
  } catch (error) {
    const remedy = error instanceof TransportError ? REMEDIES[error.status ?? error.code] : undefined;
    if (remedy !== undefined) (error as TransportError).message += ` ${remedy}`;
    throw error;
  }
}
