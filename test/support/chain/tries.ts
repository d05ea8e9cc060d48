import { createMerkleProof, createMPT } from "@ethereumjs/mpt";
import { RLP } from "@ethereumjs/rlp";
import { getBytes, hexlify } from "ethers";

/** A trie with hashes as keys, in which a chain stores accounts or a contract's values. */
export interface Trie {
  root: string;
  prove: (key: string) => Promise<string[]>;
}

export async function trieOf(entries: [key: string, value: Uint8Array][]): Promise<Trie> {
  const trie = await createMPT({ useKeyHashing: true });
  for (const [key, value] of entries) await trie.put(getBytes(key), value);
  const prove = async (key: string) => (await createMerkleProof(trie, getBytes(key))).map((node) => hexlify(node));
  return { root: hexlify(trie.root()), prove };
}

/** A contract's account. */
export function accountOf(storageRoot: string, codeHash: string): Uint8Array {
  return RLP.encode([1n, 0n, getBytes(storageRoot), getBytes(codeHash)]);
}
