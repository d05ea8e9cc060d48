import { describeValue } from "../input/describeValue.ts";
import { VerificationError } from "../errors.ts";
import type { KeyRecord } from "../identity/keyRecord.ts";
import type { UserID } from "../identity/userID.ts";
import { isObject } from "../input/json.ts";
import { verifyProof, expectUser, type MerkleProof, parseProof, type ProvenKey } from "../merkle/proof.ts";
import { type BlockHeader, hashHeader, type HeaderJson } from "../ethereum/header.ts";
import { verifyStorageProof, slotOfUser, type StorageProof } from "../ethereum/storageProof.ts";
import { parseDocument, Shape } from "../input/shape.ts";
import type { Evidence } from "../evidence.ts";
import { verifyRoot, type KeyQuery } from "./verdict.ts";
import { parseEvidencePolicy, parseKeyQuery, type VerifyOptions } from "./options.ts";

/** All that shows a user's published key under a block's hash: to be verified without asking anybody. */
export interface Bundle extends StorageProof {
  format: typeof FORMAT;
  /** The chain that holds the contract (EIP-155). The bundle's word: what proves the chain is the block's hash. */
  chainId: number;
  /** 0x and 40 hex digits in lower case. */
  contract: string;
  /** Keccak-256 of the contract's code, 0x and 64 hex digits in lower case. */
  codeHash: string;
  /** The slot of the contract's mapping from users to roots. */
  usersSlot: number;
  /** That the user's record is under the root. */
  proof: MerkleProof;
  /** The header of the block at which the contract keeps that root for the user. */
  header: HeaderJson;
}

/** What somebody wants to know, and in which contract he trusts: a forger would bring one of his own. */
export type BundleQuery = { userID: UserID } & Pick<
  VerifyOptions,
  "chainId" | "contract" | "codeHash" | "usersSlot" | "expectedPublicKey"
>;

/** A public key that is published, as of a block. */
export interface VerifiedBundle extends ProvenKey {
  contract: string;
  chainId: number;
  codeHash: string;
  /** The block's hash is the caller's, the contract's answer is proven under it. */
  evidence: Evidence;
}

const FORMAT = "keyroot-bundle-v1";
const SHAPE = new Shape((...why) => new VerificationError("file", "BUNDLE_SHAPE", ...why));
/** More than a bundle as deep as tries can be on any chain today; its objects stand four deep, down to a sibling. */
const LIMITS = { maxBytes: 2 ** 16, maxDepth: 4 };
const KEYS = [
  ...(["format", "chainId", "contract", "codeHash", "usersSlot", "proof"] as const),
  ...(["header", "accountProof", "storageProof"] as const),
];
/** A trie's path has 64 nodes and a leaf at the most, no node is larger than 17 items of 33 bytes. */
const MAX_NODES = 65;
const NODE = /^0x(?:[0-9a-f]{2}){1,1024}$/;

/**
 * Checks the form of a bundle, of the proof in it, and of the record in that; nothing else.
 * @param source the bytes as they were served, or what they parse to
 * @throws VerificationError BUNDLE_SHAPE, FILE_TOO_LARGE, FILE_NOT_UTF8, and as `parseJson`, step "file"; as `parseProof`
 */
export function parseBundle(source: unknown): { bundle: Bundle; record: KeyRecord } {
  const document = parseDocument("The bundle", source, LIMITS);
  const parts = SHAPE.object("The bundle", document, KEYS);
  SHAPE.text("format", parts.format, /^keyroot-bundle-v1$/);
  const { proof, record } = parseProof(parts.proof);
  const bundle: Bundle = {
    format: FORMAT,
    chainId: SHAPE.count("chainId", parts.chainId),
    contract: SHAPE.text("contract", parts.contract, /^0x[0-9a-f]{40}$/),
    codeHash: SHAPE.text("codeHash", parts.codeHash, /^0x[0-9a-f]{64}$/),
    usersSlot: SHAPE.count("usersSlot", parts.usersSlot),
    proof,
    header: parseHeader(parts.header),
    accountProof: SHAPE.list("accountProof", parts.accountProof, MAX_NODES, parseNode),
    storageProof: SHAPE.list("storageProof", parts.storageProof, MAX_NODES, parseNode),
  };
  return { bundle, record };
}

/**
 * Judges a bundle that nobody vouches for, without asking anybody: whether under the hash of a block that the caller
 * trusts, the contract that the caller trusts keeps a root for this user, and whether the record under it is of this
 * user, with this key.
 *
 * The block tells how old the answer is, and nothing later can take it back: a root is set once.
 * @param source the bytes as they were served, or what they parse to
 * @param blockHash 0x and 64 hex digits in lower case, from a source that the bundle's sender has no hand in
 * @throws VerificationError as `parseBundle`; UNANCHORED, HEADER_INVALID, HEADER_MISMATCH, step "anchor";
 * CHAIN_ID_MISMATCH, CONTRACT_MISMATCH, PROOF_INVALID, NO_CONTRACT, CODE_HASH_MISMATCH, NOT_PUBLISHED, step "root";
 * as `verifyProof`
 * @throws ArgumentError as `verifyPublicKey`; nothing was judged then
 */
// eslint-disable-next-line @typescript-eslint/require-await -- it returns a promise, and rejects instead of throwing
export async function verifyBundle(
  source: unknown,
  { userID, ...trusted }: BundleQuery,
  { blockHash }: { blockHash?: string | undefined } = {},
): Promise<VerifiedBundle> {
  const options: VerifyOptions = { ...trusted, blockHash, rpc: [], merkleUrl: "" };
  const question = parseKeyQuery(userID, options);
  const { usersSlot } = parseEvidencePolicy(options);
  const { bundle, record } = parseBundle(source);
  const { chainId, contract, codeHash, accountProof, storageProof } = bundle;

  expectUser(record, userID);
  const block = judgeHeader(bundle, blockHash);
  judgePlace(bundle, question, usersSlot);
  const slot = verifyStorageProof(block.stateRoot, contract, slotOfUser(userID, usersSlot), {
    accountProof,
    storageProof,
  });
  const { hash, number, timestamp } = block;
  const evidence: Evidence = { anchor: "pinned", storageProof: true, block: { hash, number, timestamp } };
  const answers = { chainId: `0x${chainId.toString(16)}`, codeHash: slot?.codeHash, root: slot?.value ?? "0x" };
  const root = verifyRoot({ userID, chainId, contract, codeHash }, answers, evidence);
  const { expectedPublicKey } = question;
  return { ...verifyProof(bundle.proof, { userID, root, expectedPublicKey }), contract, chainId, codeHash, evidence };
}

/** The bundle's block, when it is the one that the caller trusts. */
function judgeHeader({ header }: Bundle, expected: string | undefined): BlockHeader {
  const block = hashHeader(header);
  const { hash: actual, number } = block;
  if (expected === undefined) {
    const message = `Unanchored: nobody vouches for the block ${actual}, which the bundle says is number ${number}. Give the hash of that block, from a source that you trust.`;
    throw new VerificationError("anchor", "UNANCHORED", message, { actual });
  }
  if (actual === expected) return block;
  const message = `The bundle's header has the hash ${actual}, the trusted block has ${expected}.`;
  throw new VerificationError("anchor", "HEADER_MISMATCH", message, { expected, actual });
}

/** Whether the bundle speaks of the place that the caller trusts. */
function judgePlace(bundle: Bundle, question: KeyQuery, usersSlot: number): void {
  const places = [
    ["CHAIN_ID_MISMATCH", "the chain", bundle.chainId, question.chainId],
    ["CONTRACT_MISMATCH", "the contract", bundle.contract, question.contract.toLowerCase()],
    ["CONTRACT_MISMATCH", "a mapping of users in the slot", bundle.usersSlot, usersSlot],
    ["CODE_HASH_MISMATCH", "code with the hash", bundle.codeHash, question.codeHash ?? bundle.codeHash],
  ] as const;
  for (const [code, what, actual, expected] of places) {
    if (actual === expected) continue;
    const message = `The bundle speaks of ${what} ${actual}, expected was ${expected}.`;
    throw new VerificationError("root", code, message, { expected, actual });
  }
}

/** Which fields a header may have, and how long they are, `hashHeader` tells. */
function parseHeader(header: unknown): HeaderJson {
  const fields = SHAPE.object("header", header, isObject(header) ? Object.keys(header) : []);
  const parse = (name: string) => SHAPE.text(`header[${describeValue(name)}]`, fields[name], /^0x[0-9a-f]*$/);
  return Object.fromEntries(Object.keys(fields).map((name) => [name, parse(name)]));
}

function parseNode(where: string, item: unknown): string {
  return SHAPE.text(where, item, NODE);
}
