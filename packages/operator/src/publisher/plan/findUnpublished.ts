import type { UserRoot } from "../../follow/index.ts";
import type { Registry } from "../chain/registry.ts";
import type { Batch } from "./plan.ts";
import type { RecordTable } from "../records/recordTable.ts";

/** The number of users between two progress reports. */
const USERS_PER_READ = 2_800;

export interface UnpublishedOptions {
  /**
   * Receives the users who already have a root, and the positions of their records. The contract keeps the roots of
   * these users.
   */
  onAlreadyPublished?: ((users: UserRoot[], positions: number[]) => void) | undefined;
  /** Receives the number of users with roots that were read. */
  onProgress?: ((stage: "reading roots", done: number, users: number) => void) | undefined;
}

/** Reads the roots of all users in the records, and returns the records of users without a root. */
export async function findUnpublished(
  records: RecordTable,
  registry: Registry,
  { onAlreadyPublished, onProgress }: UnpublishedOptions,
): Promise<RecordTable> {
  const hasRoot = new Uint8Array(records.length);
  for (let start = 0; start < records.length; start += USERS_PER_READ) {
    const userIDs = records.userIDs(start, start + USERS_PER_READ);
    const roots = await registry.getMerkleTreeRoots(userIDs);
    const positions: number[] = [];
    const alreadyPublished = userIDs.flatMap((userID, i) => {
      const root = roots[i];
      if (root === undefined) return [];
      hasRoot[start + i] = 1;
      positions.push(start + i);
      return [{ userID, root }];
    });
    if (alreadyPublished.length > 0) onAlreadyPublished?.(alreadyPublished, positions);
    onProgress?.("reading roots", start + userIDs.length, records.length);
  }
  return records.filter((position) => hasRoot[position] === 0);
}

/**
 * Returns the batches that contain a user without a root at the newest block. The roots are read at the number of this
 * block, because a node that is behind then reports an error. With "latest", such a node would return older roots.
 * @param atLeast the number of a block that was on the chain. Default: 0
 */
export async function findUnpublishedBatches(
  registry: Registry,
  batches: readonly Batch[],
  atLeast = 0,
): Promise<Batch[]> {
  const unpublished: Batch[] = [];
  const { chain } = registry;
  const newest = await chain.newestBlock(atLeast);
  for (const batch of batches) {
    const roots = await registry.getMerkleTreeRoots(batch.userIDs, newest);
    if (roots.includes(undefined)) unpublished.push(batch);
  }
  return unpublished;
}
