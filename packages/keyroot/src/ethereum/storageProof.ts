import { decodeRlp } from "./rlp.ts";
import { VerificationError } from "../errors.ts";
import { bytesToHex, hexToBytes } from "../bytes/hex.ts";
import { describeValue, isObject } from "../input/values.ts";
import { EMPTY_CODE_HASH } from "./checkCodeHash.ts";
import { keccak256 } from "./keccak.ts";
import { readTrie, type RlpItem } from "./trie.ts";

/**
 * A proof of the value in one storage slot of a contract (EIP-1186). It consists of two lists of trie nodes, written in
 * hex with 0x. Each list begins with the root node.
 */
export interface StorageProof {
  accountProof: readonly string[];
  storageProof: readonly string[];
}

/** The contract's code hash and a storage slot's value, which a proof confirms. */
export interface ProvenSlot {
  /** The contract's code hash, Keccak-256: 0x and 64 lowercase hex digits. */
  codeHash: string;
  /** The value of the slot, 0x and 64 lowercase hex digits. All digits are 0 if the slot is empty. */
  value: string;
}

/**
 * Maximum number of nodes in a proof. A key is a hash of 64 nibbles, so its path has at most 64 branch nodes and a
 * leaf.
 */
export const MAX_PROOF_NODES = 65;

/** The root hash of an empty trie: Keccak-256 of an empty string in RLP. */
const EMPTY_TRIE_ROOT = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";

/** A trie node: 1 to 1024 bytes in hex. The largest possible node has 17 items of 33 bytes. */
const NODE = /^0x(?:[0-9a-f]{2}){1,1024}$/i;

/**
 * Extracts the proof of one slot from a response to `eth_getProof`. Only the proof's form is checked. To verify it,
 * call `verifyStorageProof`.
 * @param index the index of the slot in the request
 */
export function extractProof(answer: unknown, index = 0): StorageProof {
  const { accountProof, storageProof } = isObject(answer) ? answer : {};
  const slot: unknown = Array.isArray(storageProof) ? storageProof[index] : undefined;
  const nodes = isObject(slot) ? slot["proof"] : slot;
  return { accountProof: parseNodes("account", accountProof), storageProof: parseNodes("storage slot", nodes) };
}

function parseNodes(what: string, nodes: unknown): string[] {
  if (!Array.isArray(nodes) || nodes.length > MAX_PROOF_NODES)
    throw invalid(
      `The proof of the ${what} must have at most ${MAX_PROOF_NODES} nodes, but is ${describeValue(nodes)}.`,
    );
  const parsed: string[] = [];
  for (const node of nodes as unknown[]) {
    if (typeof node !== "string" || !NODE.test(node))
      throw invalid(`Each node of a proof must be 1 to 1024 bytes in hex, but one is ${describeValue(node)}.`);
    parsed.push(node);
  }
  return parsed;
}

/**
 * Verifies a storage proof against a block's state root. A valid proof shows the hash of the contract's code and the
 * value of the slot. It can also show that the slot is empty, or that there is no contract at this address.
 * @param stateRoot the state root of a block header, 0x and 64 lowercase hex digits
 * @param contract 0x and 40 hex digits
 * @param slot 0x and 64 hex digits
 * @returns undefined if the proof shows that there is no contract at this address
 */
export function verifyStorageProof(
  stateRoot: string,
  contract: string,
  slot: string,
  { accountProof, storageProof }: StorageProof,
): ProvenSlot | undefined {
  const account = readProven("account", stateRoot, contract, accountProof);
  if (account === undefined) return undefined;
  const { storageRoot, codeHash } = decodeAccount(account);
  if (codeHash === EMPTY_CODE_HASH) return undefined;
  const stored =
    storageRoot === EMPTY_TRIE_ROOT ? undefined : readProven("storage slot", storageRoot, slot, storageProof);
  const value = stored === undefined ? "" : bytesToHex(decodeSlot(stored));
  return { codeHash, value: `0x${value.padStart(64, "0")}` };
}

function readProven(what: string, root: string, key: string, nodes: readonly string[]): Uint8Array | undefined {
  const path = keccak256(hexToBytes(key.slice(2))).slice(2);
  const encoded = nodes.map((node) => hexToBytes(node.slice(2)));
  try {
    return readTrie(root, path, encoded);
  } catch (cause) {
    throw invalid(`The proof of the ${what} does not match the root ${root}: ${(cause as Error).message}`, cause);
  }
}

/** Decodes an account: a list of nonce, balance, storage root and code hash (Yellow Paper, section 4.1). */
function decodeAccount(encoded: Uint8Array): { storageRoot: string; codeHash: string } {
  const fields = decodeProven("account", encoded);
  const [, , storageRoot, codeHash] = Array.isArray(fields) ? fields : [];
  if (Array.isArray(fields) && fields.length === 4 && isBytes32(storageRoot) && isBytes32(codeHash)) {
    return { storageRoot: `0x${bytesToHex(storageRoot)}`, codeHash: `0x${bytesToHex(codeHash)}` };
  }
  throw invalid(`The proven account must be a list of four items, but is ${describeValue(encoded)}.`);
}

/** Decodes the value of a storage slot: a number without leading zeros. A trie never stores zero. */
function decodeSlot(encoded: Uint8Array): Uint8Array {
  const item = decodeProven("storage slot", encoded);
  if (item instanceof Uint8Array && item.length > 0 && item.length <= 32 && item[0] !== 0) return item;
  throw invalid(`The proven storage slot must be 1 to 32 bytes without leading zeros, but is ${describeValue(item)}.`);
}

function decodeProven(what: string, encoded: Uint8Array): RlpItem {
  try {
    return decodeRlp(encoded);
  } catch (cause) {
    throw invalid(`The proven ${what} is not RLP: ${(cause as Error).message}.`, cause);
  }
}

function isBytes32(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.length === 32;
}

function invalid(message: string, cause?: unknown): VerificationError {
  return new VerificationError("root", "PROOF_INVALID", message, { cause });
}
