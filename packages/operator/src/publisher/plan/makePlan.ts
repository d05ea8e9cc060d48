import type { MerkleFile } from "keyroot/internal/merkle";
import { checkOptions } from "../../checkOptions.ts";
import type { Registry } from "../chain/registry.ts";
import type { RecordTable } from "../records/recordTable.ts";
import { checkUsersPerFile, cutIntoFiles } from "./cutIntoFiles.ts";
import { type UnpublishedOptions, findUnpublished } from "./findUnpublished.ts";
import { type Batch, batchOf, type Plan, type PlanTarget, sizeOfFile } from "./plan.ts";
import { usersPerTransaction } from "./usersPerTransaction.ts";

/** Options of `makePlan`. */
export interface MakePlanOptions extends Pick<UnpublishedOptions, "onAlreadyPublished"> {
  /**
   * The maximum number of users per file and transaction, 1 to 1,000,000. If the chain's limits allow only fewer users,
   * files have fewer users.
   */
  usersPerFile: number;
  /** Receives the number of users that a stage has finished. */
  onProgress?: ((stage: "reading roots" | "making files", done: number, users: number) => void) | undefined;
}

const OPTIONS: Record<keyof MakePlanOptions, true> = { usersPerFile: true, onAlreadyPublished: true, onProgress: true };

/** Returns the chain and registry of a plan. @throws TransportError the errors of `chain` */
export async function planTargetOf({ chain, contract, owner }: Registry): Promise<PlanTarget> {
  const chainId = await chain.chainId();
  return {
    chainId,
    genesisHash: await chain.genesisHash(chainId),
    contract: contract.toLowerCase(),
    owner: owner.toLowerCase(),
  };
}

/**
 * Plans a publication: skips users who have a root, and divides the others into files. Each file except the last has as
 * many users as one transaction can publish, up to `usersPerFile`.
 *
 * The same records, chain state and options always give the same plan. Nothing is stored or sent.
 * @param records sorted by user id
 * @throws ArgumentError ARGUMENT_INVALID; TransportError the errors of `chain`
 * @example
 * ```ts
 * const { records } = await readRecords("users.jsonl");
 * const plan = await makePlan(records, registry, { usersPerFile: 700 });
 * for (const { root, users } of plan.batches) console.log(root, users);
 * ```
 */
export async function makePlan(records: RecordTable, registry: Registry, options: MakePlanOptions): Promise<Plan> {
  checkOptions("The options of makePlan", options, OPTIONS);
  checkUsersPerFile(options.usersPerFile);
  return planFiles(await findUnpublished(records, registry, options), registry, options, sizeOfFile);
}

/**
 * Divides records into files, and creates their plan. Only one file at a time is kept in memory.
 * @param records the records of users without a root, sorted by user id
 * @param bytesOf returns the size of a file in bytes, and may store the file
 * @throws the errors of `makePlan` and `bytesOf`
 */
export async function planFiles(
  records: RecordTable,
  registry: Registry,
  { usersPerFile, onProgress }: Pick<MakePlanOptions, "usersPerFile" | "onProgress">,
  bytesOf: (file: MerkleFile) => number | Promise<number>,
): Promise<Plan> {
  const target = await planTargetOf(registry);
  const { length } = records;
  if (length === 0) return { ...target, usersPerTransaction: usersPerFile, batches: [] };
  const perTransaction = await usersPerTransaction(registry, Math.min(usersPerFile, length));
  const batches: Batch[] = [];
  let done = 0;
  for (const file of cutIntoFiles(records, perTransaction, records.keyType)) {
    batches.push(batchOf(file, await bytesOf(file)));
    onProgress?.("making files", (done += file.records.length), length);
  }
  return { ...target, usersPerTransaction: perTransaction, batches };
}
