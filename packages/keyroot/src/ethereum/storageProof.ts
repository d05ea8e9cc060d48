import { RLP } from "@ethereumjs/rlp";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { hexToBytes } from "@noble/hashes/utils.js";
import { describeValue } from "../input/describeValue.ts";
import { bytesToHex } from "../bytes/platform.ts";
import { VerificationError } from "../errors.ts";
import { type UserID, userIDToBytes } from "../identity/userID.ts";
import { isObject } from "../input/json.ts";
import { readTrie } from "./trie.ts";

/** A proof of one storage slot of one account (EIP-1186): the nodes of both tries, from the root down, each 0x and hex. */
export interface StorageProof {
  accountProof: readonly string[];
  storageProof: readonly string[];
}

/** What a proof shows. */
export interface ProvenSlot {
  /** Keccak-256 of the account's code, 0x and 64 hex digits. */
  codeHash: string;
  /** The slot's 32 bytes, 0x and 64 hex digits; all zero where the trie shows that nothing is stored. */
  value: string;
}

/** The tries are keyed by hashes: no path is longer than 64 nodes, no node larger than 17 items of 33 bytes. */
const MAX_NODES = 65;
const MAX_NODE_BYTES = 1024;

/** The root of a trie without entries: Keccak-256 of the RLP of an empty string. */
const EMPTY_TRIE = "56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
/** Keccak-256 of no bytes: the code hash of an account that is no contract (EIP-1052). */
const EMPTY_CODE = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";

/**
 * The storage slot of a user's root: Keccak-256 of the id, padded on the right to 32 bytes, and the mapping's slot
 * (Solidity, "Layout of State Variables in Storage": mappings).
 * @param usersSlot the slot of the mapping
 * @returns 0x and 64 hex digits
 * @throws ArgumentError USER_ID_INVALID
 */
export function slotOfUser(userID: UserID, usersSlot: number): string {
  const key = new Uint8Array(64);
  key.set(userIDToBytes(userID));
  key.set(hexToBytes(usersSlot.toString(16).padStart(64, "0")), 32);
  return `0x${bytesToHex(keccak_256(key))}`;
}

/**
 * The proof out of an answer to `eth_getProof` of one slot. Nothing of it has been checked.
 * @throws VerificationError PROOF_INVALID, step "root"
 */
export function extractProof(answer: unknown): StorageProof {
  if (!isObject(answer) || !Array.isArray(answer["storageProof"])) throw invalid("its form", answer);
  const [slot] = answer["storageProof"] as unknown[];
  if (!isObject(slot)) throw invalid("its form", slot);
  return checkForm({ accountProof: answer["accountProof"], storageProof: slot["proof"] });
}

/** Checks that a value has the form of a proof. @throws VerificationError PROOF_INVALID, step "root" */
export function checkForm(proof: unknown): StorageProof {
  if (!isObject(proof)) throw invalid("its form", proof);
  const { accountProof, storageProof } = proof;
  return { accountProof: checkNodes(accountProof), storageProof: checkNodes(storageProof) };
}

/**
 * What a storage slot of a contract holds, as shown under a state root; also that it holds nothing, or that there is no
 * contract.
 * @param stateRoot 0x and 64 hex digits, of a block's header
 * @param contract 0x and 40 hex digits
 * @param slot 0x and 64 hex digits
 * @returns undefined where there is no contract
 * @throws VerificationError PROOF_INVALID, step "root"
 */
export function verifyStorageProof(
  stateRoot: string,
  contract: string,
  slot: string,
  { accountProof, storageProof }: StorageProof,
): ProvenSlot | undefined {
  const account = readProven("the account", stateRoot.slice(2), contract, accountProof);
  if (account === undefined) return undefined;
  const [storageRoot, codeHash] = decodeAccount(account);
  if (codeHash === EMPTY_CODE) return undefined;
  const stored = storageRoot === EMPTY_TRIE ? undefined : readProven("the slot", storageRoot, slot, storageProof);
  const value = stored === undefined ? new Uint8Array() : decodeItem(stored);
  return { codeHash: `0x${codeHash}`, value: `0x${bytesToHex(value).padStart(64, "0")}` };
}

function readProven(what: string, root: string, key: string, nodes: readonly string[]): Uint8Array | undefined {
  const path = bytesToHex(keccak_256(hexToBytes(key.slice(2))));
  const proof = nodes.map((node) => hexToBytes(node.slice(2)));
  try {
    return readTrie(root, path, proof);
  } catch (cause) {
    throw invalid(what, `nodes under ${root}`, cause);
  }
}

/** An account is the list of nonce, balance, storage root and code hash (Yellow Paper, section 4.1). */
function decodeAccount(encoded: Uint8Array): [storageRoot: string, codeHash: string] {
  const fields = decodeRlp(encoded);
  if (!Array.isArray(fields) || fields.length !== 4) throw invalid("the account", encoded);
  const [, , storageRoot, codeHash] = fields as unknown[];
  if (!isHash(storageRoot) || !isHash(codeHash)) throw invalid("the account", encoded);
  return [bytesToHex(storageRoot), bytesToHex(codeHash)];
}

/** A slot's value is a number: without leading zeros, and never zero, which is not stored at all. */
function decodeItem(encoded: Uint8Array): Uint8Array {
  const item = decodeRlp(encoded);
  if (!(item instanceof Uint8Array) || item.length === 0 || item.length > 32 || item[0] === 0)
    throw invalid("the slot's value", encoded);
  return item;
}

function decodeRlp(encoded: Uint8Array): unknown {
  try {
    return RLP.decode(encoded);
  } catch (cause) {
    throw invalid("its RLP", encoded, cause);
  }
}

function isHash(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.length === 32;
}

function checkNodes(nodes: unknown): string[] {
  if (!Array.isArray(nodes) || nodes.length > MAX_NODES) throw invalid("its form", nodes);
  for (const node of nodes as unknown[]) {
    const fits = typeof node === "string" && node.length <= 2 + 2 * MAX_NODE_BYTES && node.length % 2 === 0;
    if (!fits || !/^0x[0-9a-f]+$/i.test(node)) throw invalid("its form", node);
  }
  return nodes as string[];
}

function invalid(what: string, actual: unknown, cause?: unknown): VerificationError {
  const message = `The storage proof does not hold for ${what}: ${describeValue(actual)}.`;
  return new VerificationError("root", "PROOF_INVALID", message, { actual: describeValue(actual), cause });
}
