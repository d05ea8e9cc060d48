import { setTimeout as sleep } from "node:timers/promises";
import { TransportError } from "keyroot/errors";
import type { UserID } from "keyroot/identity";
import type { RootBatch } from "./safeBatchFile.ts";

export interface AwaitExecutionOptions {
  /** The roots that users have at the moment, in their order. */
  getMerkleTreeRoots: (userIDs: readonly UserID[]) => Promise<readonly (string | undefined)[]>;
  /** How long to wait before looking again, in ms. Default 5,000. */
  pollMs?: number | undefined;
  /** Ends the wait, with ABORTED. */
  signal?: AbortSignal | undefined;
  /** Is told after each look how many users have a root. */
  onProgress?: ((done: number, users: number) => void) | undefined;
  /** Is told of a look that failed; the next one follows. */
  onProblem?: ((error: TransportError) => void) | undefined;
}

/** What became of batches that somebody else had to execute. */
export interface Execution {
  /** How many users got the root that they were to get. */
  published: number;
  /** Users who got another root: somebody else was faster, and it stands. */
  shadowed: { userID: UserID; root: string }[];
}

/** After so many looks in a row that failed, the endpoint is held to be gone. */
const MAX_PROBLEMS = 20;

/**
 * Waits until somebody else has added roots: the owners of a Safe, who sign when they come to it. Where things stand is
 * read from the chain each time, one user a batch until that one has a root.
 * @throws TransportError ABORTED; and as `getMerkleTreeRoots`, where it fails twenty times in a row
 */
export async function awaitExecution(
  batches: readonly RootBatch[],
  { getMerkleTreeRoots, pollMs = 5_000, signal, onProgress, onProblem }: AwaitExecutionOptions,
): Promise<Execution> {
  const users = batches.reduce((sum, { userIDs }) => sum + userIDs.length, 0);
  const execution: Execution = { published: 0, shadowed: [] };
  let waiting = batches.map(({ root, userIDs }) => ({ root, userIDs: [...userIDs] })).filter(hasUsers);
  let problems = 0;

  const look = async () => {
    const firsts = await getMerkleTreeRoots(waiting.flatMap(({ userIDs }) => userIDs.slice(0, 1)));
    for (const [i, batch] of waiting.entries()) {
      if (firsts[i] === undefined) continue;
      const roots = await getMerkleTreeRoots(batch.userIDs);
      for (const [j, userID] of batch.userIDs.entries()) {
        const root = roots[j];
        if (root === batch.root) execution.published++;
        else if (root !== undefined) execution.shadowed.push({ userID, root });
      }
      batch.userIDs = batch.userIDs.filter((_, j) => roots[j] === undefined);
    }
    waiting = waiting.filter(hasUsers);
  };

  while (waiting.length > 0) {
    if (signal?.aborted) throw aborted(signal);
    try {
      await look();
      problems = 0;
      onProgress?.(execution.published + execution.shadowed.length, users);
    } catch (error) {
      if (!(error instanceof TransportError) || ++problems >= MAX_PROBLEMS) throw error;
      onProblem?.(error);
    }
    if (waiting.length > 0) await pause(pollMs, signal);
  }
  return execution;
}

function hasUsers({ userIDs }: { userIDs: readonly UserID[] }): boolean {
  return userIDs.length > 0;
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch {
    throw aborted(signal);
  }
}

function aborted(signal: AbortSignal | undefined): TransportError {
  return new TransportError("ABORTED", "The caller ended the wait.", { cause: signal?.reason });
}
