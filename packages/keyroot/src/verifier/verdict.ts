import { VerificationError } from "../errors.ts";
import { verifyKeyRecord } from "../identity/verifyKeyRecord.ts";
import type { KeyRecord } from "../identity/keyRecord.ts";
import type { UserID } from "../identity/userID.ts";
import { type MerkleFile, parseMerkleFile } from "../merkle/file.ts";
import { decodeChainId, decodeMerkleTreeRoot } from "../registry/calldata.ts";
import type { Evidence } from "../evidence.ts";

/** What somebody wants to know: whether this user's key is published in this contract. */
export interface KeyQuery {
  userID: UserID;
  /** The chain that holds the contract (EIP-155). */
  chainId: number;
  /** The contract's address: 0x and 40 hex digits. */
  contract: string;
  /** Keccak-256 of the contract's code (as EIP-1052), 0x and 64 hex digits, where it is to be checked. */
  codeHash?: string | undefined;
  /** The 105 bytes that a server handed out as this user's public key, where there are any. */
  expectedPublicKey?: Uint8Array | undefined;
}

/** What an endpoint answered; nothing of it has been checked. */
export interface ChainAnswers {
  /** The result of `eth_chainId`. */
  chainId: unknown;
  /** Keccak-256 of the contract's code, 0x and 64 hex digits; undefined where nobody asked for it. */
  codeHash: string | undefined;
  /** The result of `eth_call` of `getMerkleTreeRoot`, or the same 32 bytes as proven. */
  root: unknown;
}

/** A record that is in the tree whose root the contract keeps for its user. */
export interface VerifiedRecord {
  record: KeyRecord;
  /** Where the record stands in the file's `values`. */
  index: number;
  /** The key of the record: 105 bytes. */
  publicKey: Uint8Array;
}

/**
 * Step 1: the root that the right contract on the right chain keeps for the user.
 * @returns 64 hex digits in lower case
 * @throws VerificationError CHAIN_ID_MISMATCH, NO_CONTRACT, CODE_HASH_MISMATCH, NOT_PUBLISHED;
 * TransportError RPC_ANSWER_INVALID
 */
export function verifyRoot(
  { userID, contract, ...pinned }: KeyQuery,
  answers: ChainAnswers,
  evidence: Evidence,
): string {
  verifyChainId(pinned, answers);
  const root = decodeMerkleTreeRoot(answers.root);
  const { codeHash } = answers;
  if (pinned.codeHash !== undefined && codeHash !== pinned.codeHash) {
    const message = `The code at ${contract} has the hash ${codeHash}, expected was ${pinned.codeHash}.`;
    throw new VerificationError("root", "CODE_HASH_MISMATCH", message, { expected: pinned.codeHash, actual: codeHash });
  }
  if (root === undefined) {
    const asOf = evidence.block ? ` as of block ${evidence.block.number}` : "";
    const message = `The contract ${contract} has no root for the user ${userID}${asOf}: no key of theirs is published.`;
    throw new VerificationError("root", "NOT_PUBLISHED", message, { expected: "a root", actual: "zero", evidence });
  }
  return root;
}

/** Whether it is the right chain that answers. @throws as `verifyRoot` */
export function verifyChainId(pinned: Pick<KeyQuery, "chainId">, answers: Pick<ChainAnswers, "chainId">): void {
  const chainId = decodeChainId(answers.chainId);
  if (chainId === pinned.chainId) return;
  const message = `The endpoint speaks for the chain ${chainId}, the contract is on the chain ${pinned.chainId}.`;
  throw new VerificationError("root", "CHAIN_ID_MISMATCH", message, { expected: pinned.chainId, actual: chainId });
}

/**
 * Steps 2 and 3: the user's record in the file of that root, and whether its key is the one that was handed out.
 * @param root 64 hex digits in lower case
 * @param bytes the file, as it was served
 * @throws VerificationError as `parseMerkleFile` and `checkKeyRecord`; USER_NOT_IN_FILE, KEY_MISMATCH
 */
export function verifyFile(question: KeyQuery, root: string, bytes: Uint8Array): VerifiedRecord {
  return verifyRecord(question, root, parseMerkleFile(bytes, root));
}

/** As `verifyFile`, in a file that was parsed already. */
export function verifyRecord(question: KeyQuery, root: string, { lookup, records }: MerkleFile): VerifiedRecord {
  const { userID } = question;
  const index = lookup.get(userID);
  const record = index === undefined ? undefined : records[index];
  if (index === undefined || record === undefined) {
    const message = `The file ${root}.json has no record of the user ${userID}, though the contract names its root.`;
    throw new VerificationError("record", "USER_NOT_IN_FILE", message, { expected: userID });
  }
  return { record, index, publicKey: verifyKeyRecord(`values[${index}]`, record, question.expectedPublicKey) };
}
