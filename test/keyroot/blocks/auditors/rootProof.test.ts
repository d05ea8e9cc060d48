import { expect } from "chai";
import { hashRoots, type RootEntry, RootProofs, serializeRootEntry, subtreeOf } from "keyroot/auditors/protocol";
import { parseSubtrees, verifyRootProof } from "../../../../packages/keyroot/src/blocks/auditors/rootProof.ts";
import { KeyrootError } from "../../../../packages/keyroot/src/errors.ts";
import { sha256 } from "../../../support/samples.ts";
import { never } from "../../../support/support.ts";

const SIZES = [...Array.from({ length: 33 }, (_, i) => i + 1), 100, 127, 1429];
const entries: RootEntry[] = Array.from({ length: 1429 }, (_, i) => {
  return { root: sha256(String(i)), recordCount: 700, userCount: i % 7 === 0 ? 699 : 700 };
});
const treeOf = (size: number) => ({ size, hash: hashRoots(entries.slice(0, size).map(serializeRootEntry)) });
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));
const rootAt = (index: number) => entries[index]?.root ?? never();
const topsOf = (size: number) => {
  const proofs = new RootProofs(entries.slice(0, size));
  return { proofs, tops: parseSubtrees(bytesOf(proofs.subtrees()), treeOf(size)) };
};
const codeOf = (work: () => unknown): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof KeyrootError) return error.code;
    throw error;
  }
};

describe("root proofs", () => {
  it("prove the leaf of every root in trees of any size, with the tree hash of RFC 6962", () => {
    for (const size of SIZES) {
      const { proofs, tops } = topsOf(size);
      for (let index = 0; index < size; index += size > 200 ? 13 : 1)
        expect(verifyRootProof(bytesOf(proofs.proofOf(index)), rootAt(index), size, tops)).to.deep.equal(
          entries[index],
        );
    }
  });

  it("also prove a root in every older tree that contains it", () => {
    const newest = new RootProofs(entries.slice(0, 33));
    for (let size = 1; size <= 33; size++) {
      const { tops } = topsOf(size);
      for (let index = 0; index < size; index++)
        expect(verifyRootProof(bytesOf(newest.proofOf(index)), rootAt(index), size, tops)).to.deep.equal(
          entries[index],
        );
    }
  });

  it("change only when their subtree grows", () => {
    for (let size = 1; size < 33; size++) {
      const [before, after] = [new RootProofs(entries.slice(0, size)), new RootProofs(entries.slice(0, size + 1))];
      for (let index = 0; index < size; index++) {
        const isSame = subtreeOf(index, size)?.height === subtreeOf(index, size + 1)?.height;
        expect(before.proofOf(index) === after.proofOf(index)).to.equal(isSame);
        expect(after.proofOf(index).startsWith(before.proofOf(index))).to.equal(true);
      }
    }
  });

  it("have at most 0.6 kB in a tree of 1,429 roots, and the subtrees file has at most 0.3 kB", () => {
    const { proofs } = topsOf(1429);
    const sizes = entries.map((_, index) => proofs.proofOf(index).length);
    expect(Math.max(...sizes)).to.be.below(600);
    expect(proofs.subtrees().length).to.be.below(300);
  });

  describe("are rejected", () => {
    const { proofs, tops } = topsOf(11);
    const proof = proofs.proofOf(5);
    const [line = never(), first = never(), second = never(), third = never()] = proof.split("\n");
    const verify = (text: string, root = rootAt(5), size = 11, of = tops) =>
      codeOf(() => verifyRootProof(bytesOf(text), root, size, of));

    it("with a wrong position, number of records, number of users, hash or root", () => {
      const wrong = [
        line.replace(/^5/, "4"),
        line.replace(/^5/, "05"),
        line.replace(/^5/, "11"),
        line.replace(/^5/, "9007199254740991"),
        line.replace(/^5/, "-5"),
        line.replace("700 700", "699 699"),
        line.replace("700 700", "700 699"),
        line.replace("700 700", "0 0"),
        line.replace(rootAt(5), rootAt(4)),
        "",
      ];
      for (const changed of wrong)
        expect(verify([changed, first, second, third, ""].join("\n")), changed).to.equal("STATEMENT_TREE_MISMATCH");
      expect(verify(proof, rootAt(4))).to.equal("STATEMENT_TREE_MISMATCH");
      for (const lines of [
        [second, first, third],
        [first, second],
        [first, second, "AAAA"],
        ["?", second, third],
      ])
        expect(verify([line, ...lines, ""].join("\n"))).to.equal("STATEMENT_TREE_MISMATCH");
      expect(verify(proof.slice(0, -1))).to.equal("STATEMENT_TREE_MISMATCH");
    });

    it("for a tree that does not contain the root, or for a different tree", () => {
      expect(verify(proof, rootAt(5), 5, topsOf(5).tops)).to.equal("STATEMENT_TREE_MISMATCH");
      const others = new RootProofs(entries.slice(11, 22));
      const tree = { size: 11, hash: hashRoots(entries.slice(11, 22).map(serializeRootEntry)) };
      expect(verify(proof, rootAt(5), 11, parseSubtrees(bytesOf(others.subtrees()), tree))).to.equal(
        "STATEMENT_TREE_MISMATCH",
      );
    });

    it("if they are larger than 4 kB", () => {
      expect(verify(`${proof}${`${first}\n`.repeat(100)}`)).to.equal("FILE_TOO_LARGE");
    });
  });

  it("are valid only with the subtree hashes of the statement's own tree", () => {
    const text = new RootProofs(entries.slice(0, 11)).subtrees();
    const [a = "", b = "", c = ""] = text.split("\n");
    const parse = (source: string, tree = treeOf(11)) => codeOf(() => parseSubtrees(bytesOf(source), tree));
    for (const lines of [[b, a, c], [a, b], [a, b, c, c], [], [a, a, a]])
      expect(parse([...lines, ""].join("\n"))).to.equal("STATEMENT_TREE_MISMATCH");
    expect(parse(text, treeOf(12))).to.equal("STATEMENT_TREE_MISMATCH");
    // The tree has the same hash, but a different number of subtrees.
    expect(parse(text, { ...treeOf(11), size: 3 })).to.equal("STATEMENT_TREE_MISMATCH");
  });
});
