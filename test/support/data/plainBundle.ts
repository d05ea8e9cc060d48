import { encodeRlp, id, keccak256, stripZerosLeft } from "ethers";
import { userIDToHex } from "keyroot/internal/identity";
import type { MerkleProof } from "keyroot/internal/merkle";
import { sha256 } from "../samples.ts";

/** A bundle as plain JSON that tests can change. */
export interface PlainBundle {
  format: string;
  chainId: number;
  contract: string;
  codeHash: string;
  usersSlot: number;
  proof: MerkleProof;
  header: Record<string, string>;
  accountProof: string[];
  storageProof: string[];
}

/** The chain of a bundle. */
export interface PlainChain {
  contract?: string;
  codeHash?: string;
  usersSlot?: number;
  /** The root that the contract stores for the user. Undefined for no root. Default: the proof's root. */
  root?: string | undefined;
  /** The number of full branches above the account and above its storage slot. */
  accountDepth?: number;
  storageDepth?: number;
  /** Whether there is an account at the contract's address. */
  deployed?: boolean;
}

/** Any code hash. */
export const CODE_HASH = id("code");
export const CONTRACT = `0x${"12".repeat(20)}`;

/**
 * Creates a bundle by the rules of the Yellow Paper, with RLP and Keccak-256 of ethers, as an oracle for the library.
 * The tries contain this user's path, and the other children of the branches are arbitrary.
 */
export function plainBundle(proof: MerkleProof, chain: PlainChain = {}): { bundle: PlainBundle; pinned: string } {
  const { contract = CONTRACT, codeHash = CODE_HASH, usersSlot = 2, deployed = true } = chain;
  const { accountDepth = 2, storageDepth = 2 } = chain;
  const root = "root" in chain ? chain.root : proof.root;
  const { userID } = JSON.parse(proof.value) as { userID: string };
  const slot = keccak256(`0x${userIDToHex(userID).padEnd(64, "0")}${usersSlot.toString(16).padStart(64, "0")}`);
  const storage = trie(slot, root && encodeRlp(stripZerosLeft(`0x${root}`)), storageDepth);
  // Nonce 1, balance 0.
  const account = encodeRlp(["0x01", "0x", storage.root, codeHash]);
  const state = trie(contract, deployed ? account : undefined, accountDepth);
  const header = { ...HEADER, stateRoot: state.root };
  return {
    bundle: {
      format: "keyroot-bundle-v1",
      ...{ chainId: 1, contract, codeHash, usersSlot, proof, header },
      accountProof: state.nodes,
      storageProof: storage.nodes,
    },
    pinned: hashOf(header),
  };
}

/** Returns the hash of a block header with its fields in order. */
function hashOf(header: Readonly<Record<string, string>>): string {
  const isQuantity = (name: string) => QUANTITIES.has(name);
  const fields = Object.entries(header).map(([name, hex]) => (isQuantity(name) ? minimal(hex) : hex));
  return keccak256(encodeRlp(fields));
}

/** Creates the nodes on a key's path (Yellow Paper, appendix D): full branches, and the leaf. */
function trie(key: string, value: string | undefined, depth: number): { root: string; nodes: string[] } {
  const nibbles = keccak256(key).slice(2);
  const nodes = value === undefined ? [] : [encodeRlp([leafPath(nibbles.slice(depth)), value])];
  for (let level = depth - 1; level >= 0; level--) {
    const below = nodes[0];
    const children = Array.from({ length: 16 }, (_, i) => `0x${sha256(`${level} ${i} ${key}`)}`);
    children[Number.parseInt(nibbles.charAt(level), 16)] = below === undefined ? "0x" : keccak256(below);
    nodes.unshift(encodeRlp([...children, "0x"]));
  }
  return { root: keccak256(nodes[0] ?? "0x80"), nodes };
}

/** Encodes the path of a leaf with its flag (appendix C). */
function leafPath(nibbles: string): string {
  return nibbles.length % 2 === 0 ? `0x20${nibbles}` : `0x3${nibbles}`;
}

function minimal(quantity: string): string {
  const digits = BigInt(quantity).toString(16);
  return digits === "0" ? "0x" : `0x${digits.padStart(digits.length + (digits.length % 2), "0")}`;
}

const word = (text: string) => id(text);

/** A header with all fields of Prague, as large as on mainnet. */
const HEADER = {
  parentHash: word("parent"),
  sha3Uncles: keccak256(encodeRlp([])),
  miner: `0x${"c0".repeat(20)}`,
  stateRoot: "",
  transactionsRoot: word("transactions"),
  receiptsRoot: word("receipts"),
  logsBloom: `0x${"b1".repeat(256)}`,
  difficulty: "0x0",
  number: "0x16e3600",
  gasLimit: "0x3938700",
  gasUsed: "0x1312d00",
  timestamp: "0x68f0e4bf",
  extraData: `0x${"77".repeat(32)}`,
  mixHash: word("random"),
  nonce: "0x0000000000000000",
  baseFeePerGas: "0x1dcd6500",
  withdrawalsRoot: word("withdrawals"),
  blobGasUsed: "0xc0000",
  excessBlobGas: "0x0",
  parentBeaconBlockRoot: word("beacon"),
  requestsHash: word("requests"),
};

const QUANTITIES = new Set([
  ...["difficulty", "number", "gasLimit", "gasUsed", "timestamp"],
  ...["baseFeePerGas", "blobGasUsed", "excessBlobGas", "slotNumber"],
]);
