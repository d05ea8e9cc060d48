/** Divides the batches of an unfinished plan that a changed limit of the chain has made too large. */
import type { MerkleFile } from "keyroot/internal/merkle";
import type { Registry } from "../chain/registry.ts";
import { cutIntoFiles } from "./cutIntoFiles.ts";
import { type Batch, batchOf } from "./plan.ts";
import { usersPerTransaction } from "./usersPerTransaction.ts";

/**
 * Finds batches with more users than one transaction can publish now. There are some if the plan was made under other
 * limits, for example before a fork.
 * @returns these batches, and the maximum number of users of a new batch
 * @throws the errors of `usersPerTransaction`
 */
export async function findTooLarge(
  batches: readonly Batch[],
  registry: Registry,
): Promise<{ tooLarge: ReadonlySet<Batch>; maxUsers: number }> {
  let largest = 0;
  for (const { users } of batches) largest = Math.max(largest, users);
  if (largest === 0) return { tooLarge: new Set(), maxUsers: 0 };
  const maxUsers = await usersPerTransaction(registry, largest);
  return { tooLarge: new Set(batches.filter(({ users }) => users > maxUsers)), maxUsers };
}

/**
 * Divides the file of a batch into smaller files, and creates their batches.
 * @param bytesOf stores a file, and returns its size in bytes
 * @throws ArgumentError ARGUMENT_INVALID, and the errors of `bytesOf`
 */
export async function divideBatch(
  { records, keyType }: MerkleFile,
  usersPerFile: number,
  bytesOf: (file: MerkleFile) => Promise<number>,
): Promise<Batch[]> {
  const batches: Batch[] = [];
  for (const file of cutIntoFiles(records, usersPerFile, keyType)) batches.push(batchOf(file, await bytesOf(file)));
  return batches;
}
