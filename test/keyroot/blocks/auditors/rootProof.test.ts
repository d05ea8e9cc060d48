import { expect } from "chai";
import { type RootEntry, RootProofs, subtreeOf } from "keyroot/auditors/protocol";
import { parseSubtrees, verifyRootProof } from "../../../../packages/keyroot/src/blocks/auditors/rootProof.ts";
import { treeOf } from "../../../support/auditors/statementHost.ts";
import { codeOf } from "../../../support/refusalOf.ts";
import { sha256 } from "../../../support/samples.ts";
import { never } from "../../../support/support.ts";

const SIZES = [...Array.from({ length: 33 }, (_, i) => i + 1), 100, 127, 1429];
const entries: RootEntry[] = Array.from({ length: 1429 }, (_, i) => {
  return { root: sha256(String(i)), recordCount: 700, userCount: i % 7 === 0 ? 699 : 700 };
});
const treeWith = (size: number) => treeOf(entries.slice(0, size));
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));
const rootAt = (index: number) => entries[index]?.root ?? never();
const topsOf = (size: number) => {
  const proofs = new RootProofs(entries.slice(0, size));
  return { proofs, tops: parseSubtrees(bytesOf(proofs.subtrees()), treeWith(size)) };
};

describe("root proof", () => {
  it("proves every root in trees of many sizes", () => {
    for (const size of SIZES) {
      const { proofs, tops } = topsOf(size);
      for (let index = 0; index < size; index += size > 200 ? 13 : 1)
        expect(verifyRootProof(bytesOf(proofs.proofOf(index)), rootAt(index), size, tops)).to.deep.equal(
          entries[index],
        );
    }
  });

  it("proves a root in every older tree that contains it", () => {
    const newest = new RootProofs(entries.slice(0, 33));
    for (let size = 1; size <= 33; size++) {
      const { tops } = topsOf(size);
      for (let index = 0; index < size; index++)
        expect(verifyRootProof(bytesOf(newest.proofOf(index)), rootAt(index), size, tops)).to.deep.equal(
          entries[index],
        );
    }
  });

  it("changes only when its subtree grows", () => {
    for (let size = 1; size < 33; size++) {
      const [before, after] = [new RootProofs(entries.slice(0, size)), new RootProofs(entries.slice(0, size + 1))];
      for (let index = 0; index < size; index++) {
        const isSame = subtreeOf(index, size)?.height === subtreeOf(index, size + 1)?.height;
        expect(before.proofOf(index) === after.proofOf(index)).to.equal(isSame);
        expect(after.proofOf(index).startsWith(before.proofOf(index))).to.equal(true);
      }
    }
  });

  it("has at most 0.6 kB in a tree of 1,429 roots", () => {
    const { proofs } = topsOf(1429);
    const sizes = entries.map((_, index) => proofs.proofOf(index).length);
    expect(Math.max(...sizes)).to.be.below(600);
    expect(proofs.subtrees().length).to.be.below(300);
  });

  // The test vectors of short proofs check other changes.
  it("is rejected if its position, leaf or format is invalid", () => {
    const { proofs, tops } = topsOf(11);
    const proof = proofs.proofOf(5);
    const wrong = [
      ...["11", "9007199254740991", "-5"].map((position) => proof.replace(/^5/, position)),
      ...[proof.replace("700 700", "0 0"), proof.replace(/\n.*\n/, "\nAAAA\n"), proof.replace(/\n.*\n/, "\n?\n"), ""],
    ];
    for (const text of wrong)
      expect(codeOf(verifyRootProof, bytesOf(text), rootAt(5), 11, tops), text).to.equal("STATEMENT_TREE_MISMATCH");
  });

  it("requires the subtree hashes of the statement's own tree", () => {
    const text = new RootProofs(entries.slice(0, 11)).subtrees();
    const [a = "", b = "", c = ""] = text.split("\n");
    const parse = (source: string, tree = treeWith(11)) => codeOf(parseSubtrees, bytesOf(source), tree);
    for (const lines of [
      [a, b, c, c],
      [a, a, a],
    ])
      expect(parse([...lines, ""].join("\n"))).to.equal("STATEMENT_TREE_MISMATCH");
    expect(parse(text, treeWith(12))).to.equal("STATEMENT_TREE_MISMATCH");
    // This tree has the same hash but a different number of subtrees.
    expect(parse(text, { ...treeWith(11), size: 3 })).to.equal("STATEMENT_TREE_MISMATCH");
  });
});
