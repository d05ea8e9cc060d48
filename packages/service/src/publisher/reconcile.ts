import { REGIONS, type UserID } from "keyroot/internal/identity";
import { SERVICE } from "../api/base/author.ts";
import { isAnyOf } from "../api/database/columns.ts";
import { userIDs } from "../users/tables.ts";
import type { Difference } from "../publishing/publisherState.ts";
import { importStatements, type ImportOptions } from "./importStatements.ts";
import { codeOfFailedCheck, type Recheck, recheck, type RecheckOptions } from "./recheck.ts";
import type { CheckedRoot } from "./rootCheck.ts";

/** Differences between the chain and the databases, as numbers of keys. */
export interface Reconciliation extends Pick<Recheck, "roots" | "lost"> {
  /** Number of published keys that the database had not marked as published. */
  recorded: number;
  /** Number of stored keys that were replaced by published keys, and are now conflicting keys. */
  replaced: number;
  /** Number of published keys that were added for users without a key. */
  added: number;
  /** Number of statements of accounts that were added from the account files. */
  statements: number;
  /** Users with a published key who are missing from the databases. */
  unknownUsers: UserID[];
  /** Roots that the check could not confirm. The users under these roots could not be compared. */
  differences: Pick<Difference, "root" | "code">[];
}

/**
 * Compares the databases with the chain and the Merkle-tree files, in both directions. Missing published keys are
 * added, and stored keys that differ are replaced. Keys that are not on the chain are submitted again. Run it after a
 * restore, because the chain is newer than the backup. The caller must hold the publisher's lease.
 * @throws VerificationError with the codes of `RootCheck.listAddedRoots`; TransportError if the endpoints do not
 *   respond
 */
export async function reconcile(
  options: RecheckOptions & { accounts?: Pick<ImportOptions, "stores" | "keyType"> | undefined },
): Promise<Reconciliation> {
  const { accounts, check, now } = options;
  const started = now();
  const final = await check.finalBlock();
  const roots = await check.listAddedRoots(final);
  const result: Reconciliation = {
    ...{ roots: roots.length, recorded: 0, replaced: 0, added: 0, lost: 0, statements: 0 },
    ...{ unknownUsers: [], differences: [] },
  };
  const adopt = async (root: string) => {
    try {
      await adoptRoot(root, await check.check(root, undefined, final), options, result);
    } catch (error) {
      result.differences.push({ root, code: await codeOfFailedCheck(error, check) });
    }
  };
  for (const root of roots) await adopt(root);
  if (accounts !== undefined) {
    const rootsOf = (ids: readonly UserID[]) => check.rootsOf(ids, final);
    const slots = await importStatements({ ...options, ...accounts, rootsOf });
    result.statements = slots.size;
    result.unknownUsers = result.unknownUsers.filter((userID) => !slots.has(userID));
    for (const root of new Set(slots.values())) await adopt(root);
  }
  // The loop compared roots after `started`, so `recheck` skips them.
  const { lost, differences } = await recheck(options, started);
  const failed = new Set(result.differences.map(({ root }) => root));
  for (const { root, code } of differences) if (!failed.has(root)) result.differences.push({ root, code });
  return { ...result, lost };
}

async function adoptRoot(
  root: string,
  { added, blockHash, records }: CheckedRoot,
  { databases, publications, now }: RecheckOptions,
  result: Reconciliation,
): Promise<void> {
  // The contract keeps each user's first root, so it may be that no user in this file has this root.
  if (added === undefined || blockHash === undefined) return;
  const ids = records.map(({ userID }) => userID);
  const owned = await databases.home.select().from(userIDs).where(isAnyOf(userIDs.userID, ids));
  const regionOf = new Map(owned.map(({ userID, region }) => [userID, region]));
  result.unknownUsers.push(...ids.filter((userID) => !regionOf.has(userID)));
  for (const region of REGIONS) {
    const here = records.filter(({ userID }) => regionOf.get(userID) === region);
    if (here.length === 0) continue;
    const adopted = await publications.adoptPublished(region, { root, blockHash, ...added }, here, now(), SERVICE);
    result.recorded += adopted.recorded.length;
    result.replaced += adopted.replaced.length;
    result.added += adopted.added.length;
  }
}
