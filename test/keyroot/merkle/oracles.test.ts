import { SimpleMerkleTree } from "@openzeppelin/merkle-tree";
import { expect } from "chai";
import fc from "fast-check";
import { spawnSync } from "node:child_process";
import { makeMerkleFile, MerkleTree } from "keyroot/merkle";
import { sampleRecords, sha256, textOf } from "../../support/samples.ts";
import { SCRIPT } from "../../support/data/merkleTreeGenOracle.ts";
import type { PlainFile } from "../../support/data/plainFile.ts";

const counts = Array.from({ length: 200 }, (_, i) => i + 1);
const [randomCount] = fc.sample(fc.integer({ min: 201, max: 5000 }), 1) as [number];
const large = [1000, 1023, 1024, 1025, 4097, randomCount];

describe("MerkleTree", () => {
  const records = sampleRecords(5000);
  const filesOf = (counts: number[]) => counts.map((count) => makeMerkleFile(records.slice(0, count)));

  it("builds the same merkle object as merkle-tree-gen", () => {
    const files = filesOf([...counts, 1023, 1025, randomCount]);
    const { stdout } = spawnSync(process.execPath, [SCRIPT], {
      input: JSON.stringify(files.map(({ values }) => values)),
      encoding: "utf8",
      stdio: ["pipe", "pipe", "inherit"],
      maxBuffer: 2 ** 28,
    });
    const theirs = JSON.parse(stdout) as object[];
    expect(theirs).to.have.length(files.length);
    for (const [i, file] of files.entries()) {
      const ours = JSON.stringify((JSON.parse(textOf(file)) as PlainFile).merkle);
      expect(JSON.stringify(theirs[i]), `${file.values.length} values`).to.equal(ours);
    }
  });

  it("computes the same root as OpenZeppelin's SimpleMerkleTree", () => {
    for (const count of [...counts, ...large]) {
      const values = Array.from({ length: count }, (_, i) => `value ${i}`);
      expect(new MerkleTree(values).root, `${count} values`).to.equal(openZeppelinRoot(values));
    }
  });
});

/**
 * Computes the root with SimpleMerkleTree. That library does not pair a node with itself, so the leaves include the
 * repeated nodes, and it stores the leaves in reverse order, so the node hash swaps its arguments.
 */
function openZeppelinRoot(values: readonly string[]): string {
  const leaves = values.map((value) => `0x${sha256(value)}`);
  for (let size = 1; size < leaves.length; size *= 2) {
    if ((leaves.length / size) % 2 === 1) leaves.push(...leaves.slice(-size));
  }
  const digits = (hash: unknown) => (hash as string).slice(2);
  const tree = SimpleMerkleTree.of(leaves, {
    sortLeaves: false,
    nodeHash: (b, a) => `0x${sha256(digits(a) + digits(b))}`,
  });
  return digits(tree.root);
}
