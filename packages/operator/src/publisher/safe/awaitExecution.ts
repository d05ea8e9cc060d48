import { setTimeout as sleep } from "node:timers/promises";
import { TransportError } from "keyroot/internal/errors";
import type { UserID } from "keyroot/internal/identity";
import type { UserRoot } from "../../follow/index.ts";
import type { RootBatch } from "../chain/registry.ts";

export interface AwaitExecutionOptions {
  /** Reads users' current roots, in the order of the user ids. Returns undefined for a user without a root. */
  getMerkleTreeRoots: (userIDs: readonly UserID[]) => Promise<readonly (string | undefined)[]>;
  /** The interval between two polls of the chain, in ms. Default: 5,000. */
  pollMs?: number | undefined;
  /** Ends the wait with the error ABORTED. */
  signal?: AbortSignal | undefined;
  /** Receives the number of users with a root after each poll. */
  onProgress?: ((done: number, users: number) => void) | undefined;
  /** Receives the error of a failed poll that will be repeated. */
  onPollError?: ((error: TransportError) => void) | undefined;
}

/** The result of batches that another party executed. */
export interface Execution {
  /** The number of users with the root of their batch. */
  published: number;
  /** Users who have a different root. Another publisher was faster, and the contract keeps the first root. */
  superseded: UserRoot[];
}

/** The number of consecutive failed polls after which the last error is thrown. */
const MAX_POLL_ERRORS = 20;

/**
 * Waits until another party has added the roots of batches. For example, the owners of a Safe may sign days later. The
 * wait is cheap: each poll reads the root of one user per batch, and reads the other users only when this user has a
 * root.
 * @throws TransportError ABORTED; and the errors of `getMerkleTreeRoots` if 20 consecutive polls fail
 */
export async function awaitExecution(
  batches: readonly RootBatch[],
  { getMerkleTreeRoots, pollMs = 5_000, signal, onProgress, onPollError }: AwaitExecutionOptions,
): Promise<Execution> {
  const users = batches.reduce((sum, { userIDs }) => sum + userIDs.length, 0);
  const execution: Execution = { published: 0, superseded: [] };
  let pending = batches.map(({ root, userIDs }) => ({ root, userIDs: [...userIDs] })).filter(hasUsers);
  let errors = 0;

  const poll = async () => {
    const firstRoots = await getMerkleTreeRoots(pending.flatMap(({ userIDs }) => userIDs.slice(0, 1)));
    for (const [i, batch] of pending.entries()) {
      if (firstRoots[i] === undefined) continue;
      const roots = await getMerkleTreeRoots(batch.userIDs);
      for (const [j, userID] of batch.userIDs.entries()) {
        const root = roots[j];
        if (root === batch.root) execution.published++;
        else if (root !== undefined) execution.superseded.push({ userID, root });
      }
      batch.userIDs = batch.userIDs.filter((_, j) => roots[j] === undefined);
    }
    pending = pending.filter(hasUsers);
  };

  while (pending.length > 0) {
    if (signal?.aborted) throw aborted(signal);
    try {
      await poll();
      errors = 0;
      onProgress?.(execution.published + execution.superseded.length, users);
    } catch (error) {
      errors++;
      if (!(error instanceof TransportError) || errors >= MAX_POLL_ERRORS) throw error;
      onPollError?.(error);
    }
    if (pending.length > 0) await pause(pollMs, signal);
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
