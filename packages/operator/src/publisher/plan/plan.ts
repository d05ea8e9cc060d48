import type { UserID } from "keyroot/internal/identity";
import { type MerkleFile, serializeMerkleFile } from "keyroot/internal/merkle";
import { chainKeyOf } from "../../follow/index.ts";
import type { RootBatch } from "../chain/registry.ts";

/** The registry and the chain of a plan. */
export interface PlanTarget {
  /** The chain id (EIP-155). */
  chainId: number;
  /**
   * The hash of a development chain's first block (0x and 64 lowercase hex digits). It distinguishes development
   * chains, which share their ids. Undefined for other chains.
   */
  genesisHash?: string | undefined;
  /** The registry's address: 0x and 40 lowercase hex digits. */
  contract: string;
  /** The registry's owner: 0x and 40 lowercase hex digits. */
  owner: string;
}

/** Returns text that identifies a registry and its chain. */
export function registryKeyOf({ chainId, genesisHash, contract }: Omit<PlanTarget, "owner">): string {
  return `${chainKeyOf(chainId, genesisHash)}-${contract}`;
}

/** The users that one transaction publishes, with their root and its file. */
export interface Batch extends RootBatch {
  /** The size of the file in bytes. */
  fileBytes: number;
  /** The number of users in the file. */
  users: number;
  /** The user ids in the order of the file. Read the list only once, because each access may build it again. */
  readonly userIDs: readonly UserID[];
}

/** Creates a batch that stores the user ids as bytes. As strings, a million of them would take 60 MB more. */
export function packBatch(root: string, fileBytes: number, userIDs: readonly UserID[]): Batch {
  const users = userIDs.length;
  const packed = Buffer.from(userIDs.join(""), "latin1");
  return {
    root,
    fileBytes,
    users,
    get userIDs() {
      // Decode all ids as one string and slice the string, because decoding each id takes seven times as long.
      const text = packed.toString("latin1");
      const userIDs: UserID[] = [];
      for (let i = 0; i < text.length; i += USER_ID_LENGTH) userIDs.push(text.slice(i, i + USER_ID_LENGTH));
      return userIDs;
    },
  };
}

/**
 * Creates the batch of a file.
 * @param fileBytes the size of the file in bytes
 */
export function batchOf({ tree, records }: MerkleFile, fileBytes: number): Batch {
  return packBatch(
    tree.root,
    fileBytes,
    records.map(({ userID }) => userID),
  );
}

const USER_ID_LENGTH = 32;

/**
 * A plan for publishing all users without a root: their batches, sorted by user id. The same records, chain state and
 * limits give the same plan, byte for byte.
 */
export interface Plan extends PlanTarget {
  /** The maximum number of users in one batch. */
  usersPerTransaction: number;
  /**
   * The time at which the plan was recorded in a folder, in ms since 1970. Undefined if a version before 0.3.0 recorded
   * it.
   */
  plannedAt?: number;
  batches: readonly Batch[];
}

export function sizeOfFile(file: MerkleFile): number {
  let bytes = 0;
  // Files are ASCII, so each character is one byte.
  for (const piece of serializeMerkleFile(file)) bytes += piece.length;
  return bytes;
}

/** Returns the number of users in all batches. */
export function countUsers(batches: Iterable<{ users: number }>): number {
  let sum = 0;
  for (const { users } of batches) sum += users;
  return sum;
}

/** Returns the size of a plan, for events. */
export function sizeOf({ batches, usersPerTransaction }: Plan) {
  return { batches: batches.length, users: countUsers(batches), usersPerTransaction };
}
