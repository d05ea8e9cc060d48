import { decodeRlp } from "./rlp.ts";
import { bytesToHex } from "../bytes/hex.ts";
import { keccak256 } from "./keccak.ts";

/** A decoded RLP item: bytes, or a list of items. */
export type RlpItem = Uint8Array | RlpItem[];

/**
 * The number of items in a branch node. It has a child for each of the 16 nibbles, and the value of a key that ends at
 * this node.
 */
const BRANCH_ITEMS = 17;
const BRANCH_VALUE = 16;
/**
 * The number of items in a leaf or an extension. Both begin with a path. A leaf's second item is a value, and an
 * extension's is its child.
 */
const PATH_NODE_ITEMS = 2;
/**
 * A node's path in hex (Yellow Paper, appendix C). The first nibble shows whether the node is a leaf or an extension,
 * and whether the number of nibbles in its path is even or odd.
 */
const PATH = /^(?:([02])0|([13]))([0-9a-f]*)$/;

/**
 * Reads the value of a key from the nodes of a proof in a Merkle Patricia trie (Yellow Paper, appendix D). The root
 * node must come first. The other nodes can have any order. Nodes that are not on the key's path are ignored.
 * @param root Keccak-256 of the root node, 0x and 64 lowercase hex digits
 * @param key the nibbles of the key in lowercase hex, without 0x. In Ethereum's tries, the key is the Keccak-256 of an
 * address or slot.
 * @param nodes the nodes in RLP
 * @returns the bytes of the value, or undefined if the nodes prove that the key has no value
 * @throws Error if the nodes prove neither a value nor the absence of a value
 */
export function readTrie(root: string, key: string, nodes: readonly Uint8Array[]): Uint8Array | undefined {
  const hashes = nodes.map(keccak256);
  if (hashes[0] !== root) throw new Error("The first node is not the root node.");
  const nodesByHash = new Map(hashes.map((hash, i) => [hash, nodes[i]]));

  let node = decodeNode(nodes[0]);
  for (let rest = key; ;) {
    let child: RlpItem;
    if (node.length === BRANCH_ITEMS) {
      child = itemOf(node, rest === "" ? BRANCH_VALUE : parseInt(rest.charAt(0), 16));
      if (child.length === 0) return undefined;
      if (rest === "") return toValue(child);
      rest = rest.slice(1);
    } else {
      const { isLeaf, nibbles } = decodePath(node);
      if (isLeaf ? rest !== nibbles : !rest.startsWith(nibbles)) return undefined;
      child = itemOf(node, 1);
      if (isLeaf) return toValue(child);
      rest = rest.slice(nibbles.length);
    }
    // A parent contains a child of fewer than 32 bytes as a whole. For a larger child, it contains only the child's
    // hash.
    node = Array.isArray(child) ? child : decodeNode(nodesByHash.get(`0x${bytesToHex(child)}`));
  }
}

function decodeNode(encoded: Uint8Array | undefined): RlpItem[] {
  if (encoded === undefined) throw new Error("A node on the key's path is missing.");
  const node: RlpItem = decodeRlp(encoded);
  if (Array.isArray(node)) return node;
  throw new Error("A node is not a list.");
}

function decodePath(node: RlpItem[]): { isLeaf: boolean; nibbles: string } {
  const path = itemOf(node, 0);
  if (node.length !== PATH_NODE_ITEMS || Array.isArray(path)) throw new Error("A node has the wrong items.");
  const [, even, odd, nibbles] = PATH.exec(bytesToHex(path)) ?? [];
  if (nibbles === undefined) throw new Error("A node's path has an unknown flag.");
  return { isLeaf: even === "2" || odd === "3", nibbles };
}

function itemOf(node: RlpItem[], index: number): RlpItem {
  const item = node[index];
  if (item === undefined) throw new Error("A node has too few items.");
  return item;
}

function toValue(item: RlpItem): Uint8Array {
  if (Array.isArray(item)) throw new Error("A value is a list.");
  return item;
}
