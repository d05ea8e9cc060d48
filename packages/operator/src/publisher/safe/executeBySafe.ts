import { join } from "node:path";
import { awaitExecution, type AwaitExecutionOptions } from "./awaitExecution.ts";
import type { Batch, Plan } from "../plan/plan.ts";
import { toSafeBatchFiles } from "./safeBatchFile.ts";
import { writeWhole } from "../../disk/writeWhole.ts";

/** The most users of a transaction of a Safe under the 2^24 gas of a transaction (EIP-7825): 715 fit, measured. */
export const USERS_PER_SAFE_TRANSACTION = 700;

export interface SafeExecutionOptions extends AwaitExecutionOptions {
  /** The folder for the files, which is made when it is missing. */
  dir: string;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Is told of the files, which the Safe's owners drop into the Transaction Builder. */
  onFiles: (paths: string[]) => void;
}

/**
 * Has the Safe that owns the registry add roots: writes its files, and waits until its owners have executed them. It may
 * end at any time, and be run again: the files are then of the batches that are still missing.
 * @throws ArgumentError ARGUMENT_INVALID; TransportError FILE_UNWRITABLE, and as `awaitExecution`
 */
export async function executeBySafe(
  batches: readonly Batch[],
  { chainId, contract, owner }: Plan,
  { dir, now, onFiles, ...waiting }: SafeExecutionOptions,
): Promise<void> {
  if (batches.length === 0) return;
  const options = { safe: owner, usersPerTransaction: USERS_PER_SAFE_TRANSACTION, createdAt: now() };
  const files = toSafeBatchFiles({ chainId, contract, batches }, options);
  const paths: string[] = [];
  for (const [i, file] of files.entries()) {
    const path = join(dir, `safe-${i + 1}-of-${files.length}.json`);
    await writeWhole(path, `${JSON.stringify(file, null, 2)}\n`);
    paths.push(path);
  }
  onFiles(paths);
  await awaitExecution(batches, waiting);
}
