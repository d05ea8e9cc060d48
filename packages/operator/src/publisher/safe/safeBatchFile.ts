import { getAddress } from "ethers/address";
import { keccak256 } from "ethers/crypto";
import { toUtf8Bytes } from "ethers/utils";
import { argumentInvalid } from "../../errors.ts";
import { userIDToHex } from "keyroot/internal/identity";
import { describeValue, isObject } from "keyroot/internal/input";
import { plural } from "../../plural.ts";
import type { RootBatch } from "../chain/registry.ts";
import type { PlanTarget } from "../plan/plan.ts";

/**
 * The maximum number of users in one transaction of a Safe. Such a transaction needs about 60,000 gas more than a
 * transaction of an ordinary account, and its gas limit must be 1/63 higher (EIP-150). In a measurement with a limit of
 * 2^24 gas (EIP-7825), 715 users fit and 720 did not.
 */
export const USERS_PER_SAFE_TRANSACTION = 700;

/** A file for Safe's Transaction Builder, format 1.0 (`BatchFile` in the Transaction Builder's `typings/models.ts`). */
export type SafeBatchFile = ReturnType<typeof toSafeBatchFiles>[number];

/** The contract's function, in the Transaction Builder's format. */
const ADD_MERKLE_TREE_ROOT = {
  inputs: [
    { internalType: "bytes32", name: "merkleTreeRoot", type: "bytes32" },
    { internalType: "bytes", name: "userIDsPacked", type: "bytes" },
  ],
  name: "addMerkleTreeRoot",
  payable: false,
};

/** A version of Safe's Transaction Builder that uses this format. */
const TX_BUILDER_VERSION = "1.18.2";

/**
 * The maximum number of calls in one file. All calls of a file become one transaction (MultiSend). Safe's transaction
 * service accepts 100 calls, but not 200 (github.com/safe-global/safe-react-apps, issue 749).
 */
const MAX_CALLS = 100;

/**
 * Creates Transaction Builder files with the calls that a Safe must make as the owner of the registry. The calls are in
 * the order of the batches. Each file is one transaction for the Safe's owners to sign, and has as many roots as the
 * limits allow.
 * @param owner the address of the Safe
 * @param createdAt the creation time of the files, in ms since 1970
 * @throws ArgumentError ARGUMENT_INVALID for an invalid address, or a batch with more users than `usersPerTransaction`
 */
export function toSafeBatchFiles(
  { chainId, contract, owner }: Pick<PlanTarget, "chainId" | "contract" | "owner">,
  batches: readonly RootBatch[],
  createdAt: number,
  usersPerTransaction = USERS_PER_SAFE_TRANSACTION,
) {
  const to = checksummed(contract);
  const safe = checksummed(owner);
  const groups = groupCalls(batches, usersPerTransaction);
  return groups.map((group, i) => {
    const users = group.reduce((sum, { userIDs }) => sum + userIDs.length, 0);
    const file = {
      version: "1.0",
      chainId: String(chainId),
      createdAt,
      meta: {
        name: `Keyroot ${i + 1} of ${groups.length}`,
        description: `Adds ${plural(group.length, "root")} for ${plural(users, "user")}`,
        txBuilderVersion: TX_BUILDER_VERSION,
        createdFromSafeAddress: safe,
        createdFromOwnerAddress: "",
        checksum: "",
      },
      // The Transaction Builder encodes these calls.
      transactions: group.map(({ root, userIDs }) => ({
        to,
        value: "0",
        data: null,
        contractMethod: ADD_MERKLE_TREE_ROOT,
        contractInputsValues: { merkleTreeRoot: `0x${root}`, userIDsPacked: `0x${userIDs.map(userIDToHex).join("")}` },
      })),
    };
    return { ...file, meta: { ...file.meta, checksum: safeBatchChecksum(file) } };
  });
}

/**
 * Computes the checksum of a Transaction Builder file as the app does (`lib/checksum.ts`). It is the Keccak-256 of the
 * file with `name: null` and without the checksum. Each object is serialized as its sorted keys followed by their
 * values.
 * @returns 0x and 64 lowercase hex digits
 */
export function safeBatchChecksum(file: { meta: object }): string {
  const meta = Object.fromEntries(Object.entries(file.meta).filter(([key]) => key !== "checksum"));
  return keccak256(toUtf8Bytes(serialize({ ...file, meta: { ...meta, name: null } })));
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
      const message =
        `The root ${batch.root} has ${plural(length, "user")}, but a transaction of the Safe can add at most ${usersPerTransaction}. ` +
        "Plan with fewer users per file.";
      throw argumentInvalid(message, { expected: usersPerTransaction, actual: length });
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

function checksummed(address: string): string {
  try {
    return getAddress(address);
  } catch {
    throw argumentInvalid(`${describeValue(address)} is not an address, or its checksum (EIP-55) is wrong.`);
  }
}
