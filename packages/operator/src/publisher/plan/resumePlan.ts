/**
 * Prepares the unfinished plan of an earlier run. It checks the plan's target, files and keys, and divides batches that
 * have become too large.
 */
import type { UserID } from "keyroot/internal/identity";
import type { MerkleFile } from "keyroot/internal/merkle";
import type { Registry } from "../chain/registry.ts";
import type { FetchFile } from "../../follow/index.ts";
import type { MerkleFileStore } from "../files/merkleFileStore.ts";
import type { RecordTable } from "../records/recordTable.ts";
import { checkPlannedFile, checkPlanTarget } from "./checkResumedPlan.ts";
import type { CompareEvent, KeyDifference } from "./compareKeys.ts";
import { cutIntoFiles } from "./cutIntoFiles.ts";
import { findUnpublishedBatches } from "./findUnpublished.ts";
import { planTargetOf } from "./makePlan.ts";
import { type Batch, batchOf, countUsers, type Plan, sizeOf } from "./plan.ts";
import { usersPerTransaction } from "./usersPerTransaction.ts";

/** The maximum number of user ids in a warning. */
const NAMED = 20;

/** An event of a resumed plan. */
export type ResumeEvent =
  /**
   * An unfinished plan is resumed. `added` is the number of its roots that are on the chain. `plannedAt` is in ms since
   * 1970, or undefined if a version before 0.3.0 recorded the plan.
   */
  | {
      event: "resumed";
      batches: number;
      users: number;
      usersPerTransaction: number;
      added: number;
      plannedAt: number | undefined;
    }
  /**
   * The resumed plan also publishes users who are not in the records. `users` is their number, and `userIDs` contains
   * the first 20 of them.
   */
  | { event: "withoutRecord"; users: number; userIDs: UserID[] }
  /** The store had lost a file of a resumed plan, which was rebuilt from the records. */
  | { event: "rebuilt"; root: string; users: number }
  /**
   * Some batches were divided, because the chain's limits have changed and they no longer fit into a transaction. The
   * event contains the size of the new plan.
   */
  | { event: "replanned"; batches: number; users: number; usersPerTransaction: number };

export interface ResumeContext {
  registry: Registry;
  store: MerkleFileStore;
  fetchFile: FetchFile;
  /** The maximum number of users in a new file. Undefined if batches must not be divided, because a Safe adds them. */
  usersPerFile: number | undefined;
  /** Stores and verifies a new file. @returns the size of the file in bytes */
  storeFile: (file: MerkleFile) => Promise<number>;
  /** Receives each checked file, with the SHA-256 of its bytes. */
  onChecked: (file: MerkleFile, sha256: string) => void;
  /**
   * Called after a batch is divided, with the root of the batch and the root of its first part. The first part must
   * take over the nonces of the batch, because a nonce stays reserved until a transaction uses it.
   */
  onDivided: (root: string, first: string) => Promise<void>;
  /** Replaces the recorded plan. */
  writePlan: (plan: Plan) => Promise<void>;
  onProgress: (done: number, users: number) => void;
  emit: (event: ResumeEvent | CompareEvent) => void;
}

/** A plan that is ready to be published. */
export interface ResumedPlan {
  plan: Plan;
  /** The batches whose roots must be added. */
  unpublished: Batch[];
  /** Users with other keys in the records, whose batch is already on the chain. */
  differences: KeyDifference[];
}

/**
 * Prepares an unfinished plan: checks its files, rebuilds lost ones, and divides batches that have become too large.
 * Nothing is sent.
 * @param records used to rebuild files that the store has lost
 * @throws the errors of `checkPlanTarget`, `checkPlannedFile`, `usersPerTransaction` and `context`
 */
export async function resumePlan(plan: Plan, records: RecordTable, context: ResumeContext): Promise<ResumedPlan> {
  const { registry, store, fetchFile, emit } = context;
  checkPlanTarget(plan, await planTargetOf(registry));
  const missing = new Set(await findUnpublishedBatches(registry, plan.batches));
  const added = plan.batches.length - missing.size;
  emit({ event: "resumed", ...sizeOf(plan), added, plannedAt: plan.plannedAt });
  const maxUsers = await maxUsersOf(missing, context);
  const total = countUsers(plan.batches);
  let checked = 0;
  const withoutRecord: UserID[] = [];
  const differences: KeyDifference[] = [];
  const batches: Batch[] = [];
  const unpublished: Batch[] = [];
  for (const batch of plan.batches) {
    const { root, users } = batch;
    const isAdded = !missing.has(batch);
    const found = await checkPlannedFile(batch, records, store, fetchFile, isAdded);
    context.onChecked(found.file, found.sha256);
    differences.push(...found.differences);
    for (const { userID } of found.file.records) if (!records.has(userID)) withoutRecord.push(userID);
    if (found.isRebuilt) emit({ event: "rebuilt", root, users });
    context.onProgress((checked += users), total);
    const parts = isAdded || users <= maxUsers ? [batch] : await divideFile(found.file, maxUsers, context);
    const [first] = parts;
    if (first !== undefined && first !== batch) await context.onDivided(root, first.root);
    batches.push(...parts);
    if (!isAdded) unpublished.push(...parts);
  }
  const { length: users } = withoutRecord;
  if (users > 0) emit({ event: "withoutRecord", users, userIDs: withoutRecord.slice(0, NAMED) });
  if (differences.length > 0) emit({ event: "keyDiffers", users: differences });
  if (batches.length === plan.batches.length) return { plan, unpublished, differences };
  const divided = { ...plan, batches };
  await context.writePlan(divided);
  emit({ event: "replanned", ...sizeOf(divided) });
  return { plan: divided, unpublished, differences };
}

/**
 * Returns the number of users that one transaction can publish now. A fork can make it lower than when the plan was
 * made. Batches with more users are then divided.
 */
async function maxUsersOf(batches: Iterable<Batch>, { registry, usersPerFile }: ResumeContext): Promise<number> {
  let largest = 0;
  for (const { users } of batches) largest = Math.max(largest, users);
  return usersPerFile === undefined || largest === 0 ? Infinity : usersPerTransaction(registry, largest);
}

/** Divides the file of a batch into smaller files, stores them, and creates their batches. */
async function divideFile(
  { records, keyType }: MerkleFile,
  maxUsers: number,
  { usersPerFile = maxUsers, storeFile }: ResumeContext,
): Promise<Batch[]> {
  const batches: Batch[] = [];
  for (const file of cutIntoFiles(records, Math.min(maxUsers, usersPerFile), keyType))
    batches.push(batchOf(file, await storeFile(file)));
  return batches;
}
