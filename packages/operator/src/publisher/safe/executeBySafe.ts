import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { TransportError } from "../../errors.ts";
import { checkOptions } from "../../checkOptions.ts";
import type { RootBatch } from "../chain/registry.ts";
import { ifExists } from "../../disk/fileErrors.ts";
import { checkPrivateFolder } from "../../disk/permissions.ts";
import { writeFileAtomic } from "../../disk/writeFileAtomic.ts";
import type { PlanTarget } from "../plan/plan.ts";
import { awaitExecution, type AwaitExecutionOptions, type Execution } from "./awaitExecution.ts";
import { toSafeBatchFiles } from "./safeBatchFile.ts";

const OPTIONS: Record<keyof SafeExecutionOptions, true> = {
  ...{ dir: true, now: true, onFiles: true, getMerkleTreeRoots: true },
  ...{ pollMs: true, signal: true, onProgress: true, onPollError: true },
};

export interface SafeExecutionOptions extends AwaitExecutionOptions {
  /**
   * The folder for the Transaction Builder files. If it is missing, it is created with mode 0700, so that only the
   * owner can access it.
   */
  dir: string;
  /** Returns the current time in ms since 1970. */
  now: () => number;
  /** Receives the paths of the files. The Safe's owners upload these files. */
  onFiles: (paths: string[]) => void;
}

/**
 * Writes files for the Transaction Builder of the Safe that owns the registry, and waits until the Safe's owners have
 * executed their transactions. You can stop the function and call it again at any time; the new files then contain only
 * the missing batches.
 * @returns the number of users with the root of their batch, and the users with a different root
 * @throws ArgumentError ARGUMENT_INVALID, FILE_PERMISSIONS if others can write to the folder; TransportError
 *   FILE_UNWRITABLE, and the errors of `awaitExecution`
 * @example
 * ```ts
 * await publish(records, {
 *   registry,
 *   chainId: 1,
 *   store,
 *   usersPerFile: USERS_PER_SAFE_TRANSACTION,
 *   execute: (batches, plan) =>
 *     executeBySafe(batches, plan, {
 *       dir: "safe",
 *       now: Date.now,
 *       getMerkleTreeRoots: (userIDs) => registry.getMerkleTreeRoots(userIDs),
 *       onFiles: (paths) => console.log(paths),
 *     }),
 * });
 * ```
 */
export async function executeBySafe(
  batches: readonly RootBatch[],
  target: PlanTarget,
  options: SafeExecutionOptions,
): Promise<Execution> {
  const { dir, now, onFiles, ...waiting } = checkOptions("The options of executeBySafe", options, OPTIONS);
  if (batches.length > 0) {
    // Other accounts must not be able to replace these files, because the owners sign the files' content.
    await checkPrivateFolder(dir);
    const files = toSafeBatchFiles(target, batches, now());
    await removeEarlierFiles(dir);
    const paths: string[] = [];
    for (const [i, file] of files.entries()) {
      const path = join(dir, `safe-${i + 1}-of-${files.length}.json`);
      await writeFileAtomic(path, `${JSON.stringify(file, null, 2)}\n`, 0o600);
      paths.push(path);
    }
    onFiles(paths);
  }
  return awaitExecution(batches, waiting);
}

/** The name of a file that `executeBySafe` writes. */
const FILE_NAME = /^safe-\d+-of-\d+\.json$/;

/**
 * Removes the files of an earlier run, so that the owners sign only missing batches.
 * @throws TransportError FILE_UNWRITABLE
 */
async function removeEarlierFiles(dir: string): Promise<void> {
  try {
    const names = (await ifExists(readdir(dir))) ?? [];
    for (const name of names) if (FILE_NAME.test(name)) await rm(join(dir, name));
  } catch (cause) {
    const message = `Cannot remove the transaction files of an earlier run in ${dir}: ${(cause as Error).message}.`;
    throw new TransportError("FILE_UNWRITABLE", message, { cause });
  }
}
