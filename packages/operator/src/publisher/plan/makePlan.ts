import type { MerkleFile } from "keyroot/merkle";
import { checkOptions } from "../../input/checkOptions.ts";
import type { Registry, UserRoot } from "../chain/registry.ts";
import type { RecordTable } from "../records/recordTable.ts";
import { checkUsersPerFile, cutIntoFiles } from "./cutIntoFiles.ts";
import { type Batch, packBatch, type Plan, type PlanTarget, sizeOfFile } from "./plan.ts";
import { usersPerTransaction } from "./usersPerTransaction.ts";

/** How many users' roots are read before progress is reported. */
const USERS_PER_READ = 2_800;

/** Options of `makePlan`. */
export interface MakePlanOptions {
  /** The most users of one file and transaction, 1 to 1,000,000. The plan has fewer if the chain takes fewer. */
  usersPerFile: number;
  /** Receives the records of users without a root, before any file is made. */
  onUnpublished?: (records: RecordTable) => Promise<void>;
  /**
   * Receives each file of the plan as soon as it is made, in the plan's order; the next one is made when it is done. So
   * only one file is in memory at a time. Returns the size of the file in bytes. Default: computes the size.
   */
  onFile?: (file: MerkleFile) => Promise<number>;
  /** Receives users who have a root already. The contract keeps it, whatever their record says. */
  onAlreadyPublished?: (users: UserRoot[]) => void;
  /** Receives how many of the users a stage has done. */
  onProgress?: (stage: "reading roots" | "making files", done: number, users: number) => void;
}

const OPTIONS: Record<keyof MakePlanOptions, true> = {
  ...{ usersPerFile: true, onUnpublished: true, onFile: true, onAlreadyPublished: true, onProgress: true },
};

/** The part of a plan that names its chain and registry. @throws TransportError as the chain */
export async function planTargetOf({ chain, contract, owner }: Registry): Promise<PlanTarget> {
  const [chainId, genesisHash] = await Promise.all([chain.chainId(), chain.genesisHash()]);
  return { chainId, genesisHash, contract: contract.toLowerCase(), owner: owner.toLowerCase() };
}

/**
 * Plans a publication: leaves out users who have a root, and cuts the others into files of as many users as one transaction
 * can publish. The same records, chain state and options make the same plan. Stores and sends nothing.
 * @param records sorted by user id
 * @throws ArgumentError ARGUMENT_INVALID; TransportError as the chain
 * @example
 * ```ts
 * const { records } = await readRecords("users.jsonl");
 * const plan = await makePlan(records, registry, { usersPerFile: 700 });
 * for (const { root, users } of plan.batches) console.log(root, users);
 * ```
 */
export async function makePlan(records: RecordTable, registry: Registry, options: MakePlanOptions): Promise<Plan> {
  checkOptions("The options of makePlan", options, OPTIONS);
  const { usersPerFile, onFile, onProgress } = options;
  checkUsersPerFile(usersPerFile);
  const target = await planTargetOf(registry);
  const unpublished = await findUnpublished(records, registry, options);
  const max = Math.min(usersPerFile, unpublished.length);
  if (max === 0) return { ...target, usersPerTransaction: usersPerFile, batches: [] };
  await options.onUnpublished?.(unpublished);
  const perTransaction = await usersPerTransaction(registry, max);
  const batches: Batch[] = [];
  let done = 0;
  for (const file of cutIntoFiles(unpublished, perTransaction)) {
    const fileBytes = await (onFile?.(file) ?? sizeOfFile(file));
    const userIDs = file.records.map(({ userID }) => userID);
    batches.push(packBatch(file.tree.root, fileBytes, userIDs));
    done += userIDs.length;
    onProgress?.("making files", done, unpublished.length);
  }
  return { ...target, usersPerTransaction: perTransaction, batches };
}

/** The records of users without a root. */
async function findUnpublished(
  records: RecordTable,
  registry: Registry,
  { onAlreadyPublished, onProgress }: MakePlanOptions,
): Promise<RecordTable> {
  const hasRoot = new Uint8Array(records.length);
  for (let start = 0; start < records.length; start += USERS_PER_READ) {
    const userIDs = records.userIDs(start, start + USERS_PER_READ);
    const roots = await registry.getMerkleTreeRoots(userIDs);
    const alreadyPublished = userIDs.flatMap((userID, i) => {
      const root = roots[i];
      if (root === undefined) return [];
      hasRoot[start + i] = 1;
      return [{ userID, root }];
    });
    if (alreadyPublished.length > 0) onAlreadyPublished?.(alreadyPublished);
    onProgress?.("reading roots", start + userIDs.length, records.length);
  }
  return records.filter((position) => hasRoot[position] === 0);
}
