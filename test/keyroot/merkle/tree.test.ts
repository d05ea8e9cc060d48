import { expect } from "chai";
import fc from "fast-check";
import { MAX_VALUES, MerkleTree } from "../../../packages/keyroot/src/merkle/tree.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { sha256 } from "../../support/samples.ts";
import { plainFile } from "../../support/data/plainFile.ts";

const rootOf = (...values: string[]) => new MerkleTree(values).root;
const anyValues = fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 40 });

describe("MerkleTree", () => {
  const [a, b, c] = ["a", "b", "c"].map(sha256) as [string, string, string];

  describe("hashes", () => {
    it("returns SHA-256 of the values as leaves", () => {
      expect(rootOf("abc")).to.equal("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
      expect(rootOf("é")).to.equal(sha256(Uint8Array.of(0xc3, 0xa9)));
    });

    it("returns the hashes of each level, leaves first", () => {
      const tree = new MerkleTree(["a", "b", "c"]);
      const [ab, cc] = [sha256(a + b), sha256(c + c)];
      expect([0, 1, 2].map((level) => tree.hashes(level))).to.deep.equal([[a, b, c], [ab, cc], [sha256(ab + cc)]]);
      for (const level of [3, -1, 0.5, NaN, undefined] as number[]) {
        expect(refusalOf(() => tree.hashes(level))).to.equal("ARGUMENT_INVALID");
      }
    });
  });

  describe("the root", () => {
    it("equals the recorded root of the same values", () => {
      expect(rootOf("a", "b", "c")).to.equal("0bdf27bf7ec894ca7cadfe491ec1a3ece840f117989e8c5e9bd7086467bf6c38");
      expect(rootOf(...Array.from({ length: 100 }, (_, i) => `value ${i}`))).to.equal(
        "c3528c4954e0078cd555ca2ff31dc59c85200ccb66d366a80ffcea2f48c676fa",
      );
    });

    it("agrees with a direct implementation of the specification", () => {
      fc.assert(
        fc.property(anyValues, (values) => {
          const tree = new MerkleTree(values);
          const { root, merkle } = plainFile(values);
          expect([tree.root, tree.leafCount, tree.height]).to.deep.equal([root, merkle["leaves"], merkle["levels"]]);
        }),
      );
    });

    it("is the same if the last value is repeated", () => {
      expect(rootOf("a", "b", "c", "c")).to.equal(rootOf("a", "b", "c"));
      expect(rootOf(a + b, c + c)).to.equal(rootOf("a", "b", "c"));
    });
  });

  describe("the number of values", () => {
    it("is at least one", () => {
      expect(refusalOf(() => new MerkleTree([]))).to.equal("TREE_EMPTY");
    });

    it("may be a million", () => {
      const tree = new MerkleTree(Array.from({ length: MAX_VALUES }, (_, i) => `value ${i}`));
      expect([MAX_VALUES, tree.leafCount, tree.height]).to.deep.equal([1_000_000, 1_000_000, 21]);
      expect(tree.root).to.equal("2dc4c3bd67f85878bb08bf7b57437490b2dced3f3dc95a16ac0b685610a923b0");
    });

    it("is limited to a million before hashing", () => {
      expect(refusalOf(() => new MerkleTree(new Array<string>(MAX_VALUES + 1)))).to.equal("TREE_TOO_LARGE");
      expect(refusalOf(() => new MerkleTree(new Array<string>(2 ** 32 - 1)))).to.equal("TREE_TOO_LARGE");
    });
  });

  describe("the argument", () => {
    it("must be an array of strings", () => {
      for (const values of [undefined, null, "abc", 7, {}, [undefined], ["a", 1], ["a", null], [["a"]], new Array(3)]) {
        expect(refusalOf(() => new MerkleTree(values as string[]))).to.equal("ARGUMENT_INVALID");
      }
    });
  });
});
