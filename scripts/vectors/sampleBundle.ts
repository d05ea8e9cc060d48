import { dataLength, decodeRlp, encodeRlp, keccak256, type RlpStructuredData, stripZerosLeft } from "ethers";
import type { MerkleProof } from "keyroot/merkle";
import { CODE_HASH, CONTRACT, hashOf, type PlainBundle, plainBundle } from "../../fixtures/plainBundle.ts";
import { sha256 } from "../../fixtures/samples.ts";
import type { BundleQuery } from "./vector.ts";

/** What stands on the way to a leaf, from the root down: a branch, or an extension over so many nibbles. */
type Path = readonly ("branch" | number)[];

/** What the trie has where a key is looked for: its leaf, nothing, or what leads to another key. */
type End = "leaf" | "nothing" | "other-leaf" | "other-extension";

export interface SampleChain {
  contract?: string;
  chainId?: number;
  codeHash?: string;
  usersSlot?: number;
  /** The contract's root for the user; default the proof's. */
  root?: string;
  accountPath?: Path;
  storagePath?: Path;
  accountEnd?: End;
  storageEnd?: End;
  /** The RLP of what the account and the slot hold, made into another. */
  account?: (rlp: string) => string;
  slot?: (rlp: string) => string;
  /** Leaves made into others, before anything is hashed: whoever mines a block can do so. */
  accountLeaf?: (rlp: string) => string;
  storageLeaf?: (rlp: string) => string;
}

export interface SampleBundle {
  bundle: PlainBundle;
  question: BundleQuery;
}

/** The bundle of a chain that is like this, and the question that it answers. */
export function sampleBundle(proof: MerkleProof, chain: SampleChain = {}): SampleBundle {
  const { contract = CONTRACT, chainId = 1, codeHash = CODE_HASH, usersSlot = 2, root = proof.root } = chain;
  const same = (rlp: string) => rlp;
  const { account = same, slot = same, accountLeaf = same, storageLeaf = same } = chain;
  const { userID } = JSON.parse(proof.value) as { userID: string };

  const item = slot(encodeRlp(stripZerosLeft(`0x${root}`)));
  const storage = trie(slotOf(userID, usersSlot), item, chain.storagePath ?? ["branch"], chain.storageEnd, storageLeaf);
  // Nonce 1, balance 0.
  const held = account(encodeRlp(["0x01", "0x", storage.root, codeHash]));
  const state = trie(contract, held, chain.accountPath ?? ["branch"], chain.accountEnd, accountLeaf);

  const header = { ...plainBundle(proof).bundle.header, stateRoot: state.root };
  const bundle = {
    format: "keyroot-bundle-v1",
    ...{ chainId, contract, codeHash, usersSlot, proof, header },
    accountProof: state.nodes,
    storageProof: storage.nodes,
  };
  return { bundle, question: { userID, chainId, contract, blockHash: hashOf(header) } };
}

/** Keccak-256's input for a user's slot: the id's 20 bytes, padded on the right, and the mapping's slot. */
function slotOf(userID: string, usersSlot: number): string {
  const digits = "ybndrfg8ejkmcpqxot1uwisza345h769";
  const id = Array.from(userID).reduce((number, letter) => number * 32n + BigInt(digits.indexOf(letter)), 0n);
  const hex = id.toString(16).padStart(40, "0").padEnd(64, "0");
  return keccak256(`0x${hex}${usersSlot.toString(16).padStart(64, "0")}`);
}

/** The nodes on the way to a key (Yellow Paper, appendix D); what else hangs on the branches is of no matter. */
function trie(
  key: string,
  value: string,
  path: Path,
  end: End = "leaf",
  change: (leaf: string) => string,
): { root: string; nodes: string[] } {
  const nibbles = keccak256(key).slice(2);
  let at = path.reduce<number>((sum, step) => sum + (step === "branch" ? 1 : step), 0);
  const elsewhere = (rest: string) => (rest.startsWith("0") ? "1" : "0") + rest.slice(1);
  const rest = nibbles.slice(at);
  const last = {
    leaf: [hexPrefix(rest, true), value],
    "other-leaf": [hexPrefix(elsewhere(rest), true), value],
    "other-extension": [hexPrefix(elsewhere(rest.slice(0, 5)), false), `0x${sha256(`below ${key}`)}`],
    nothing: undefined,
  }[end];
  const nodes = last === undefined ? [] : [change(encodeRlp(last))];
  for (const [level, step] of [...path.entries()].reverse()) {
    const below = hang(nodes);
    if (step === "branch") {
      at--;
      const children: RlpStructuredData[] = Array.from({ length: 16 }, (_, i) => `0x${sha256(`${level} ${i} ${key}`)}`);
      children[Number.parseInt(nibbles.charAt(at), 16)] = below;
      nodes.unshift(encodeRlp([...children, "0x"]));
    } else {
      at -= step;
      nodes.unshift(encodeRlp([hexPrefix(nibbles.slice(at, at + step), false), below]));
    }
  }
  return { root: keccak256(nodes[0] ?? "0x80"), nodes };
}

/** What a node has for the one below it: its hash, or where it is shorter than a hash, itself; no proof has it then. */
function hang(nodes: string[]): RlpStructuredData {
  const [child] = nodes;
  if (child === undefined) return "0x";
  if (dataLength(child) >= 32) return keccak256(child);
  nodes.shift();
  return decodeRlp(child);
}

/** A path with its flag (appendix C). */
function hexPrefix(nibbles: string, isLeaf: boolean): string {
  const flag = isLeaf ? 2 : 0;
  return nibbles.length % 2 === 0 ? `0x${flag}0${nibbles}` : `0x${flag + 1}${nibbles}`;
}
