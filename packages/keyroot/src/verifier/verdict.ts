import { loadModule } from "../engine/loadModule.ts";
import type { Bytes } from "../bytes/base64.ts";
import { VerificationError } from "../errors.ts";
import { verifyKeyRecord } from "../identity/checkKeyRecord.ts";
import type { KeyType } from "../identity/keyTypes/keyType.ts";
import type { KeyRecord } from "../identity/serializedRecord.ts";
import { indexOfUser, type MerkleFile } from "../merkle/fileOf.ts";
import { decodeFile, parseSerializedFile } from "../merkle/parseSerializedFile.ts";
import { checkCodeHash } from "../ethereum/checkCodeHash.ts";
import { parseSafeQuantity } from "../ethereum/rpcValues.ts";
import { decodeMerkleTreeRoot } from "../registry/answers.ts";
import type { Evidence } from "../evidence.ts";
import type { KeyQuery, RootQuery } from "./options.ts";
import type { RootAnswers } from "./rootByCall.ts";

/** A verified record. The contract has the tree's root for the record's user. */
export interface VerifiedRecord {
  record: KeyRecord;
  /** The index of the record in the file's `values` array. */
  index: number;
  /** The public key in the record. */
  publicKey: Bytes;
}

/**
 * Checks the answers about a user's root and returns the root (step 1 of the specification). The answers must be from
 * the expected chain, and from a contract with the expected code.
 * @returns 64 lowercase hex digits
 * @throws VerificationError CHAIN_ID_MISMATCH, NO_CONTRACT, CODE_HASH_MISMATCH, NOT_PUBLISHED
 * @throws TransportError RPC_ANSWER_INVALID
 */
export function verifyRoot(query: RootQuery, answers: RootAnswers, evidence: Evidence): string {
  const root = verifyAnswers(query, answers);
  if (root !== undefined) return root;
  const { userID, contract } = query;
  const asOf = evidence.block ? ` as of block ${evidence.block.number}` : "";
  const message = `The contract ${contract} has no root for the user ${userID}${asOf}. No key of this user is published.`;
  throw new VerificationError("root", "NOT_PUBLISHED", message, { expected: "a root", actual: "zero", evidence });
}

/**
 * Checks the answers about a user's root like `verifyRoot`, but accepts a user who has no root.
 * @returns undefined if the user has no root
 */
export function verifyAnswers(
  { contract, ...expected }: Omit<RootQuery, "userID">,
  answers: RootAnswers,
): string | undefined {
  verifyChainId(expected, answers);
  const root = decodeMerkleTreeRoot(answers.root);
  checkCodeHash(contract, expected.codeHash, answers.codeHash);
  return root;
}

/** Checks that an endpoint is on the expected chain. @throws the errors of `verifyRoot` */
export function verifyChainId(expected: Pick<RootQuery, "chainId">, answers: Pick<RootAnswers, "chainId">): void {
  const chainId = parseSafeQuantity(answers.chainId);
  if (chainId === expected.chainId) return;
  const message = `The endpoint is on the chain ${chainId}, but the contract is on the chain ${expected.chainId}.`;
  throw new VerificationError("root", "CHAIN_ID_MISMATCH", message, { expected: expected.chainId, actual: chainId });
}

/**
 * Verifies a Merkle-tree file and returns its record of the user (steps 2 and 3 of the specification). The key in the
 * record must be the expected one.
 * @param root 64 lowercase hex digits
 * @param bytes the file as the host returned it
 * @throws VerificationError as `parseMerkleFile` and `checkKeyRecord`; USER_NOT_IN_FILE, KEY_MISMATCH
 */
export async function verifyFile(query: KeyQuery, root: string, bytes: Uint8Array): Promise<VerifiedRecord> {
  return verifyRecord(query, root, await parseFile(bytes, root, query.keyType));
}

/**
 * Parses a file as `parseMerkleFile` does. Files that `serializeMerkleFile` did not write need a larger parser. This
 * parser is loaded on demand, so that apps load less code at the start.
 * @throws VerificationError as `parseMerkleFile`
 */
export async function parseFile(bytes: Uint8Array, root: string, keyType?: KeyType): Promise<MerkleFile> {
  const text = decodeFile(bytes);
  const file = parseSerializedFile(text, root, keyType);
  return (
    file ?? (await loadModule(() => import("../merkle/verifyMerkleFile.ts"))).verifyMerkleFile(text, root, keyType)
  );
}

/**
 * Finds and verifies the user's record in a file that is already verified.
 * @throws VerificationError as `checkKeyRecord`; USER_NOT_IN_FILE, KEY_MISMATCH
 */
export function verifyRecord(query: KeyQuery, root: string, file: MerkleFile): VerifiedRecord {
  const index = indexOfUser(root, file, query.userID);
  const [record] = file.records.slice(index, index + 1) as [KeyRecord];
  const publicKey = verifyKeyRecord(`The record of ${query.userID}`, record, query.expectedPublicKey, file.keyType);
  return { record, index, publicKey };
}
