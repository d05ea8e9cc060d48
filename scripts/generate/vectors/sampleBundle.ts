import { dataLength, decodeRlp, encodeRlp, keccak256, type RlpStructuredData, stripZerosLeft } from "ethers";
import type { MerkleProof } from "keyroot/merkle";
import { CODE_HASH, CONTRACT, hashOf, type PlainBundle, plainBundle } from "../../../test/support/data/plainBundle.ts";
import { sha256 } from "../../../test/support/samples.ts";
import type { BundleQuery } from "./vector.ts";

/** The nodes above a leaf, from the root down: a branch, or an extension of this many nibbles. */
type Path = readonly ("branch" | number)[];

/** The end of a key's path in the trie: its leaf, an empty place, or a node of another key. */
type End = "leaf" | "nothing" | "other-leaf" | "other-extension";

export interface SampleChain {
  contract?: string;
  chainId?: number;
  codeHash?: string;
  usersSlot?: number;
  /** The root that the contract stores for the user. Default: the proof's root. */
  root?: string;
  accountPath?: Path;
  storagePath?: Path;
  accountEnd?: End;
  storageEnd?: End;
  /** Changes the RLP of the account and of the slot. */
  account?: (rlp: string) => string;
  slot?: (rlp: string) => string;
  /** Changes the leaves before they are hashed, as the producer of a block could. */
  accountLeaf?: (rlp: string) => string;
  storageLeaf?: (rlp: string) => string;
}

export interface SampleBundle {
  bundle: PlainBundle;
  question: BundleQuery;
}

/** Makes the bundle of a chain, and the matching query. */
export function sampleBundle(proof: MerkleProof, chain: SampleChain = {}): SampleBundle {
  const { contract = CONTRACT, chainId = 1, codeHash = CODE_HASH, usersSlot = 2, root = proof.root } = chain;
  const same = (rlp: string) => rlp;
  const { account = same, slot = same, accountLeaf = same, storageLeaf = same } = chain;
  const { userID } = JSON.parse(proof.value) as { userID: string };

  const item = slot(encodeRlp(stripZerosLeft(`0x${root}`)));
  const storage = trie(slotOf(userID, usersSlot), item, chain.storagePath ?? ["branch"], chain.storageEnd, storageLeaf);
  // Nonce 1, balance 0.
  const encodedAccount = account(encodeRlp(["0x01", "0x", storage.root, codeHash]));
  const state = trie(contract, encodedAccount, chain.accountPath ?? ["branch"], chain.accountEnd, accountLeaf);

  const header = { ...plainBundle(proof).bundle.header, stateRoot: state.root };
  const bundle = {
    format: "keyroot-bundle-v1",
    ...{ chainId, contract, codeHash, usersSlot, proof, header },
    accountProof: state.nodes,
    storageProof: storage.nodes,
  };
  return { bundle, question: { userID, chainId, contract, pinned: hashOf(header) } };
}

/** The storage slot of a user: Keccak-256 of the id's 20 bytes, padded on the right, and the mapping's slot. */
function slotOf(userID: string, usersSlot: number): string {
  const digits = "ybndrfg8ejkmcpqxot1uwisza345h769";
  const id = Array.from(userID).reduce((number, letter) => number * 32n + BigInt(digits.indexOf(letter)), 0n);
  const hex = id.toString(16).padStart(40, "0").padEnd(64, "0");
  return keccak256(`0x${hex}${usersSlot.toString(16).padStart(64, "0")}`);
}

/** Makes the nodes on a key's path (Yellow Paper, appendix D). The other children of the branches are arbitrary. */
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
    const below = referenceTo(nodes);
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

/** The reference to a child in its parent: its hash, or the child itself if it is shorter. Then the proof does not contain it. */
function referenceTo(nodes: string[]): RlpStructuredData {
  const [child] = nodes;
  if (child === undefined) return "0x";
  if (dataLength(child) >= 32) return keccak256(child);
  nodes.shift();
  return decodeRlp(child);
}

/** Encodes a path with its flag (appendix C). */
function hexPrefix(nibbles: string, isLeaf: boolean): string {
  const flag = isLeaf ? 2 : 0;
  return nibbles.length % 2 === 0 ? `0x${flag}0${nibbles}` : `0x${flag + 1}${nibbles}`;
}
