import type { UserID } from "keyroot/identity";
import type { MerkleFile } from "keyroot/merkle";
import { checkUsersPerFile, cutIntoFiles } from "./cutIntoFiles.ts";
import { usersPerTransaction } from "./usersPerTransaction.ts";
import { type Batch, packBatch, type Plan, type PlanTarget, sizeOfFile } from "./plan.ts";
import type { RecordTable } from "../records/recordTable.ts";
import type { Registry } from "../chain/registry.ts";

/** How many users are asked about at a time. */
const USERS_AT_ONCE = 2_800;

export interface MakePlanOptions {
  /** The most users of one file and transaction; fewer where the chain holds fewer. */
  usersPerFile: number;
  /** Is handed each file of the plan, in their order, and tells how many bytes it has. */
  onFile?: (file: MerkleFile) => Promise<number>;
  /** Is told of users who have a root already: it stands, whatever the records say. */
  onKept?: (users: { userID: UserID; root: string }[]) => void;
  /** Is told how many users are through with a stage. */
  onProgress?: (stage: "reading roots" | "making files", done: number, users: number) => void;
}

/** What a plan for this registry says of it. */
export async function planTargetOf({ chain, contract, owner }: Registry): Promise<PlanTarget> {
  const [chainId, { hash: genesisHash }] = await Promise.all([chain.chainId(), chain.block("earliest")]);
  return { chainId, genesisHash, contract: contract.toLowerCase(), owner: owner.toLowerCase() };
}

/**
 * Plans what to publish: leaves out who has a root, and cuts the others into files that a transaction each can publish.
 * @param records settled
 * @throws ArgumentError ARGUMENT_INVALID; TransportError
 */
export async function makePlan(records: RecordTable, registry: Registry, options: MakePlanOptions): Promise<Plan> {
  const { usersPerFile, onFile, onProgress } = options;
  checkUsersPerFile(usersPerFile);
  const target = await planTargetOf(registry);
  const pending = await withoutRoot(records, registry, options);
  const most = Math.min(usersPerFile, pending.length);
  if (most === 0) return { ...target, usersPerTransaction: usersPerFile, batches: [] };
  const fitting = await usersPerTransaction(registry, most);
  const batches: Batch[] = [];
  let done = 0;
  for (const file of cutIntoFiles(pending, fitting)) {
    const fileBytes = await (onFile?.(file) ?? sizeOfFile(file));
    const start = done;
    done += file.records.length;
    batches.push(packBatch(file.tree.root, fileBytes, pending.userIDs(start, done)));
    onProgress?.("making files", done, pending.length);
  }
  return { ...target, usersPerTransaction: fitting, batches };
}

/** The records of users who have no root. */
async function withoutRoot(
  records: RecordTable,
  registry: Registry,
  { onKept, onProgress }: MakePlanOptions,
): Promise<RecordTable> {
  const hasRoot = new Uint8Array(records.length);
  for (let start = 0; start < records.length; start += USERS_AT_ONCE) {
    const userIDs = records.userIDs(start, start + USERS_AT_ONCE);
    const roots = await registry.getMerkleTreeRoots(userIDs);
    const kept = userIDs.flatMap((userID, i) => {
      const root = roots[i];
      if (root === undefined) return [];
      hasRoot[start + i] = 1;
      return [{ userID, root }];
    });
    if (kept.length > 0) onKept?.(kept);
    onProgress?.("reading roots", start + userIDs.length, records.length);
  }
  return records.filter((place) => hasRoot[place] === 0);
}
