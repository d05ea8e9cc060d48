import { toQuantity } from "keyroot/internal/ethereum";
import { type KeyType, ANY_KEY, type KeyRecord, type UserID } from "keyroot/internal/identity";
import type { MerkleFile } from "keyroot/internal/merkle";
import { type Evidence, verifyRecord, verifyRoot } from "keyroot/internal/verifier";
import type { UserRoot } from "./readRoots.ts";

/** The endpoint's responses about users at a final block. */
export interface ChainReading {
  /** The chain id that the endpoint reported. */
  chainId: number;
  /** The type of the registry's keys. Undefined for `curve41417`. */
  keyType?: KeyType | undefined;
  /** Each user's root, in the order of the users: 64 lowercase hex digits, or undefined for a user without a root. */
  roots: readonly (string | undefined)[];
}

/** The registry that must have the users' roots. */
export interface ProvenRegistry {
  /** The chain id (EIP-155). */
  chainId: number;
  /** The address of the registry: 0x and 40 hex digits. */
  contract: string;
}

/** Users, divided by the root that the contract assigns to them. */
export interface DividedUsers {
  /** The users who have the root. */
  userIDs: UserID[];
  /** The users who have a different root. Another publisher was faster, and the contract keeps the first root. */
  superseded: UserRoot[];
  /** The users without a root. */
  unpublished: UserID[];
}

const EVIDENCE: Evidence = { source: "one-endpoint", storageProof: false };

/**
 * Divides users into three groups: those with this root, those with another root, and those without a root. It first
 * checks the endpoint's responses as a client's verifier does.
 * @param root 64 lowercase hex digits
 * @throws VerificationError CHAIN_ID_MISMATCH; TransportError RPC_ANSWER_INVALID
 */
export function divideByRoot(
  root: string,
  userIDs: readonly UserID[],
  { chainId, contract }: ProvenRegistry,
  reading: ChainReading,
): DividedUsers {
  const divided: DividedUsers = { userIDs: [], superseded: [], unpublished: [] };
  const answeredChainId = toQuantity(reading.chainId);
  let last: UserRoot | undefined;
  for (const [i, userID] of userIDs.entries()) {
    const answer = reading.roots[i];
    if (answer === undefined) {
      divided.unpublished.push(userID);
      continue;
    }
    // Check each root once. Nearly all users have the same root.
    if (answer !== last?.root) {
      const answers = { chainId: answeredChainId, codeHash: undefined, root: `0x${answer}` };
      last = { userID, root: verifyRoot({ userID, chainId, contract }, answers, EVIDENCE) };
    }
    if (last.root === root) divided.userIDs.push(userID);
    else divided.superseded.push({ userID, root: last.root });
  }
  return divided;
}

/**
 * Proves that a verified file contains exactly one record with a valid key for each user.
 * @param root the root of the file, which each user has in the contract
 * @returns the users' records, in the order of the users
 * @throws VerificationError USER_NOT_IN_FILE, and the errors of `checkKeyRecord`
 */
export function proveRecords(
  root: string,
  userIDs: readonly UserID[],
  { chainId, contract }: ProvenRegistry,
  file: MerkleFile,
): KeyRecord[] {
  return userIDs.map(
    (userID) => verifyRecord({ userID, chainId, contract, expectedPublicKey: ANY_KEY }, root, file).record,
  );
}
