import { getAddress, id } from "ethers";
import { describeValue } from "keyroot/input";
import { ArgumentError } from "keyroot/errors";
import { type UserID, userIDToHex } from "keyroot/identity";
import { isObject } from "keyroot/input";

/** One root to add, and its users: one call of the contract. */
export interface RootBatch {
  /** 64 hex digits in lower case. */
  root: string;
  userIDs: readonly UserID[];
}

/** The part of a plan that an owner who is a contract has to execute. */
export interface OwnersCalls {
  chainId: number;
  /** The registry's address. */
  contract: string;
  batches: readonly RootBatch[];
}

export interface SafeExportOptions {
  /** The address of the Safe that owns the registry. */
  safe: string;
  /**
   * The most users of one transaction of the Safe. It needs some 60,000 gas more than a plain account's, and a limit 1/63
   * higher (EIP-150): of the 2^24 gas of a transaction (EIP-7825), 715 users were seen to leave enough, 720 not.
   */
  usersPerTransaction: number;
  /** When the files were made, in ms since 1970. */
  createdAt: number;
}

/** A file of the Safe's Transaction Builder, version 1.0 (`BatchFile` in its `typings/models.ts`). */
export interface SafeBatchFile {
  version: "1.0";
  chainId: string;
  createdAt: number;
  meta: {
    name: string;
    description: string;
    txBuilderVersion: string;
    createdFromSafeAddress: string;
    createdFromOwnerAddress: string;
    checksum: string;
  };
  transactions: SafeCall[];
}

/** A call as its signers read it; the app encodes it itself. */
interface SafeCall {
  to: string;
  value: "0";
  data: null;
  contractMethod: typeof ADD_MERKLE_TREE_ROOT;
  contractInputsValues: { merkleTreeRoot: string; userIDsPacked: string };
}

/** The contract's function, described as the Transaction Builder does. */
const ADD_MERKLE_TREE_ROOT = {
  inputs: [
    { internalType: "bytes32", name: "merkleTreeRoot", type: "bytes32" },
    { internalType: "bytes", name: "userIDsPacked", type: "bytes" },
  ],
  name: "addMerkleTreeRoot",
  payable: false,
} as const;

/** The version of the Transaction Builder whose files were the model. */
const TX_BUILDER_VERSION = "1.18.2";

/**
 * The most calls of one file. All of them become one transaction (MultiSend): a hundred were seen to pass through the
 * Safe's own service, two hundred not (github.com/safe-global/safe-react-apps, issue 749).
 */
const MAX_CALLS = 100;

/**
 * Writes the calls that add a plan's roots as files for the Safe's Transaction Builder, in the plan's order: each is one
 * transaction that the Safe's owners sign, with as many roots as the limits allow.
 * @throws ArgumentError ARGUMENT_INVALID for an address that is none, or a root with more users than a transaction takes
 */
export function toSafeBatchFiles(
  { chainId, contract, batches }: OwnersCalls,
  options: SafeExportOptions,
): SafeBatchFile[] {
  const { createdAt, usersPerTransaction } = options;
  const to = checksummed(contract);
  const safe = checksummed(options.safe);
  const groups = groupCalls(batches, usersPerTransaction);
  return groups.map((group, i) => {
    const users = group.reduce((sum, { userIDs }) => sum + userIDs.length, 0);
    const file: SafeBatchFile = {
      version: "1.0",
      chainId: String(chainId),
      createdAt,
      meta: {
        name: `Keyroot ${i + 1} of ${groups.length}`,
        description: `Adds ${count(group.length, "root")} for ${count(users, "user")}`,
        txBuilderVersion: TX_BUILDER_VERSION,
        createdFromSafeAddress: safe,
        createdFromOwnerAddress: "",
        checksum: "",
      },
      transactions: group.map((batch) => toCall(to, batch)),
    };
    return { ...file, meta: { ...file.meta, checksum: safeBatchChecksum(file) } };
  });
}

/**
 * The checksum of a Transaction Builder's file, as the app computes it (`lib/checksum.ts`): Keccak-256 of all but the
 * checksum, with the name left open, every object written as its sorted keys followed by their values.
 * @returns 0x and 64 hex digits
 */
export function safeBatchChecksum(file: { meta: object }): string {
  const meta = Object.fromEntries(Object.entries(file.meta).filter(([key]) => key !== "checksum"));
  return id(serialize({ ...file, meta: { ...meta, name: null } }));
}

function serialize(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(serialize).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const keys = Object.keys(value).sort();
  return `{${JSON.stringify(keys)}${keys.map((key) => `${serialize(value[key])},`).join("")}}`;
}

function groupCalls(batches: readonly RootBatch[], usersPerTransaction: number): RootBatch[][] {
  const groups: RootBatch[][] = [];
  let room = 0;
  for (const batch of batches) {
    const { length } = batch.userIDs;
    if (length > usersPerTransaction) {
      const message = `A transaction of the Safe takes ${usersPerTransaction} users, the root ${batch.root} has ${length}: plan with fewer users a file.`;
      throw new ArgumentError("ARGUMENT_INVALID", message, { expected: usersPerTransaction, actual: length });
    }
    const last = groups.at(-1);
    if (last !== undefined && length <= room && last.length < MAX_CALLS) {
      last.push(batch);
      room -= length;
    } else {
      groups.push([batch]);
      room = usersPerTransaction - length;
    }
  }
  return groups;
}

function toCall(to: string, { root, userIDs }: RootBatch): SafeCall {
  return {
    to,
    value: "0",
    data: null,
    contractMethod: ADD_MERKLE_TREE_ROOT,
    contractInputsValues: { merkleTreeRoot: `0x${root}`, userIDsPacked: `0x${userIDs.map(userIDToHex).join("")}` },
  };
}

function checksummed(address: string): string {
  try {
    return getAddress(address);
  } catch {
    const message = `This is no address, or its checksum is wrong: ${describeValue(address)}.`;
    throw new ArgumentError("ARGUMENT_INVALID", message);
  }
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
