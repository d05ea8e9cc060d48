import { REGIONS, type Region, type UserID } from "keyroot/identity";
import type { KeyRecord } from "keyroot/identity";
import { parseMerkleFile } from "keyroot/merkle";
import { fetchBlockNumber, fetchRootAddedLogs, ZERO_ROOT } from "keyroot/registry";
import type { Registry } from "../../publisher/chain/registry.ts";
import type { MerkleFileStore } from "../../publisher/files/merkleFileStore.ts";
import { findStored } from "../../publisher/files/storeFile.ts";
import { SERVICE } from "../store/changes.ts";
import type { Databases } from "../store/database.ts";
import type { PublicKeyStore } from "../store/publicKeys.ts";
import { isAnyOf } from "../store/isAnyOf.ts";
import { userIDs } from "../store/tables.ts";

/** What the chain has and the databases had not, by number of users. */
export interface Reconciliation {
  /** The number of roots on the chain. */
  roots: number;
  /** Keys that the database had, but not as published. */
  recorded: number;
  /** Keys that were replaced by the published one. The user's other key is among its offered keys now. */
  replaced: number;
  /** Keys of users who had none. */
  added: number;
  /** Users with a published key that the databases do not know. */
  unknownUsers: UserID[];
  /** Roots whose file is in no store, so their users could not be compared. */
  missingFiles: string[];
}

/** A root with the users who have it, and the transaction and block in which they got it. */
interface RootOnChain {
  root: string;
  transactionHash: string;
  blockNumber: number;
}

/** What `reconcile` needs. */
export interface ReconcileOptions {
  databases: Databases;
  keys: PublicKeyStore;
  registry: Registry;
  stores: Record<Region, MerkleFileStore>;
  /** Blocks after which a root counts as published, its own included. */
  confirmations: number;
  now: () => number;
}

/**
 * Compares the databases with the chain and the Merkle-tree files, and records every published key that they do not know or
 * that differs: after a restore, the chain is newer than the databases. The caller holds the publisher's lease.
 * @throws VerificationError of `parseMerkleFile`; TransportError as the chain and the stores
 */
export async function reconcile(options: ReconcileOptions): Promise<Reconciliation> {
  const { registry, confirmations } = options;
  const { call } = registry.chain;
  const { number } = await registry.chain.block("latest");
  const fromBlock = await fetchBlockNumber(call, registry.contract, ZERO_ROOT);
  const toBlock = number - confirmations + 1;
  const logs = toBlock < fromBlock ? [] : await fetchRootAddedLogs(call, registry.contract, { fromBlock, toBlock });
  const roots = [...new Set(logs.map(({ root }) => root))];
  const result: Reconciliation = {
    ...{ roots: roots.length, recorded: 0, replaced: 0, added: 0 },
    ...{ unknownUsers: [], missingFiles: [] },
  };
  for (const root of roots) {
    const records = await readRecords(root, options.stores);
    const added = await registry.findAddedRoot(root);
    if (records === undefined || added === undefined) {
      result.missingFiles.push(root);
      continue;
    }
    const { transactionHash, blockNumber } = added;
    await reconcileRoot({ root, transactionHash, blockNumber }, records, options, result);
  }
  return result;
}

async function reconcileRoot(
  published: RootOnChain,
  records: readonly KeyRecord[],
  { databases, keys, registry, now }: ReconcileOptions,
  result: Reconciliation,
): Promise<void> {
  const ids = records.map(({ userID }) => userID);
  // The contract keeps a user's first root: users of this file may have another one.
  const roots = await registry.getMerkleTreeRoots(ids);
  const owned = await databases.home.select().from(userIDs).where(isAnyOf(userIDs.userID, ids));
  const regionOf = new Map(owned.map(({ userID, region }) => [userID, region]));
  const holders = records.filter((_, i) => roots[i] === published.root);
  result.unknownUsers.push(...holders.flatMap(({ userID }) => (regionOf.has(userID) ? [] : [userID])));
  for (const region of REGIONS) {
    const here = holders.filter(({ userID }) => regionOf.get(userID) === region);
    if (here.length === 0) continue;
    const { recorded, replaced, added } = await keys.adoptPublished(region, published, here, now(), SERVICE);
    result.recorded += recorded.length;
    result.replaced += replaced.length;
    result.added += added.length;
  }
}

/** The records of a root's file, from the first store that has it. */
async function readRecords(
  root: string,
  stores: Record<Region, MerkleFileStore>,
): Promise<readonly KeyRecord[] | undefined> {
  for (const region of REGIONS) {
    const bytes = await findStored(root, stores[region]);
    if (bytes !== undefined) return parseMerkleFile(bytes, root).records;
  }
  return undefined;
}
