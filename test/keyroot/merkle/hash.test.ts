import { expect } from "chai";
import fc from "fast-check";
import {
  checkMerkleRoot,
  hashChildren,
  hashLeaf,
  isMerkleRoot,
  rootOfFileName,
} from "../../../packages/keyroot/src/merkle/hash.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { sha256 } from "../../support/samples.ts";

const ROOT = sha256("root");
const INVALID = [
  undefined,
  null,
  7,
  "",
  ROOT.slice(1),
  `${ROOT}0`,
  `0x${ROOT}`,
  ROOT.toUpperCase(),
  `${ROOT}\n`,
  [ROOT],
];

describe("hash functions of the Merkle tree", () => {
  describe("hashLeaf", () => {
    it("returns SHA-256 of the value in UTF-8", () => {
      fc.assert(fc.property(fc.string({ unit: "binary" }), (value) => hashLeaf(value) === sha256(value)));
    });
  });

  describe("hashChildren", () => {
    it("returns SHA-256 of the left hash and the right hash in hex", () => {
      const [left, right] = [sha256("left"), sha256("right")];
      expect(hashChildren(left, right)).to.equal(sha256(left + right));
      expect(hashChildren(right, left)).to.equal(sha256(right + left));
    });
  });

  describe("rootOfFileName", () => {
    it("returns the root only for the name of a Merkle-tree file", () => {
      expect(rootOfFileName(`${ROOT}.json`)).to.equal(ROOT);
      for (const name of ["", ".json", ROOT, `${ROOT}.json.gz`, `${ROOT.toUpperCase()}.json`, `a/${ROOT}.json`]) {
        expect(rootOfFileName(name)).to.equal(undefined);
      }
    });
  });

  describe("isMerkleRoot and checkMerkleRoot", () => {
    it("accept only 64 lowercase hex digits", () => {
      expect(isMerkleRoot(ROOT)).to.be.true;
      expect(checkMerkleRoot(ROOT)).to.equal(ROOT);
      expect(INVALID.some(isMerkleRoot)).to.be.false;
      for (const value of INVALID) expect(refusalOf(checkMerkleRoot, value)).to.equal("HASH_INVALID");
    });
  });
});
