import { expect } from "chai";
import { makeMerkleFile, type MerkleFile } from "keyroot";
import { hashLeaf, makeLeafChunks } from "keyroot/merkle";
import { chunkNumber, MAX_CHUNK_BYTES } from "../../../packages/keyroot/src/merkle/chunkNumber.ts";
import { findInLeafChunk } from "../../../packages/keyroot/src/merkle/findInLeafChunk.ts";
import { fileOf } from "../../../packages/keyroot/src/merkle/fileOf.ts";
import { codeOf } from "../../support/refusalOf.ts";
import { sampleRecords } from "../../support/samples.ts";
import { never } from "../../support/support.ts";

const treeOf = ({ tree }: MerkleFile) => ({ root: tree.root, leafCount: tree.leafCount });
const chunksOf = (file: MerkleFile) => new Map([...makeLeafChunks(file)].map(({ number, bytes }) => [number, bytes]));

describe("leaf chunks", () => {
  describe("makeLeafChunks", () => {
    it("makes chunks that prove each user's position", () => {
      for (const size of [
        ...Array.from({ length: 40 }, (_, i) => i + 1),
        63,
        64,
        65,
        127,
        129,
        700,
        1000,
        1025,
        3000,
      ]) {
        const file = makeMerkleFile(sampleRecords(size));
        const chunks = chunksOf(file);
        for (const [i, { userID }] of file.records.entries()) {
          const bytes = chunks.get(chunkNumber(userID, size)) ?? never();
          expect(findInLeafChunk(bytes, hashLeaf(file.values[i] ?? ""), treeOf(file))).to.equal(i);
        }
      }
    });

    it("makes 32 chunks of at most 2 kB for 700 users", () => {
      const chunks = [...chunksOf(makeMerkleFile(sampleRecords(700))).values()];
      expect(chunks).to.have.lengthOf(32);
      expect(Math.max(...chunks.map(({ length }) => length))).to.be.below(2048);
      for (const size of [1, 31, 32]) expect(chunksOf(makeMerkleFile(sampleRecords(size))).size).to.equal(1);
      expect(chunksOf(makeMerkleFile(sampleRecords(33))).size).to.equal(2);
    });

    it("makes no chunks for unsorted records or unevenly distributed ids", () => {
      const { values, records } = makeMerkleFile(sampleRecords(5));
      expect(chunksOf(fileOf([...values].reverse(), [...records].reverse())).size).to.equal(0);
      // All ids begin with the same characters.
      const alike = sampleRecords(3000).map((record) => ({ ...record, userID: `yyy${record.userID.slice(3)}` }));
      expect(chunksOf(makeMerkleFile(alike)).size).to.equal(0);
    });
  });

  describe("chunkNumber", () => {
    it("returns numbers in the order of user ids", () => {
      const ids = sampleRecords(2000).map(({ userID }) => userID);
      const numbers = [...ids].sort().map((userID) => chunkNumber(userID, 1_000_000));
      expect(numbers).to.deep.equal([...numbers].sort((a, b) => a - b));
      const [digits] = ["y", "1", "z"].map((digit) => chunkNumber(digit.repeat(32), 1_000_000));
      expect(digits).to.equal(30 * 1024 + 30 * 32 + 30);
      expect([chunkNumber("1".repeat(32), 2 ** 20), chunkNumber("z".repeat(32), 1_000_000)]).to.deep.equal([0, 32_767]);
    });
  });

  describe("findInLeafChunk", () => {
    const file = makeMerkleFile(sampleRecords(100));
    const [record = never()] = file.records;
    const leaf = hashLeaf(file.values[0] ?? "");
    const chunk = chunksOf(file).get(chunkNumber(record.userID, 100)) ?? never();

    it("rejects a chunk with any changed bit", () => {
      for (let i = 0; i < chunk.length; i++) {
        const changed = Uint8Array.from(chunk);
        changed[i] = (changed[i] ?? 0) ^ (1 << (i % 8));
        expect(codeOf(findInLeafChunk, changed, leaf, treeOf(file)), `byte ${i}`).to.be.oneOf([
          "PROOF_SHAPE",
          "ROOT_MISMATCH",
        ]);
      }
    });

    // The test vectors of short proofs check other sizes and trees.
    it("rejects a chunk of the wrong size", () => {
      const large = new Uint8Array(MAX_CHUNK_BYTES + 8);
      expect(codeOf(findInLeafChunk, large, leaf, treeOf(file))).to.equal("PROOF_SHAPE");
      for (const leafCount of [1, 50, 200])
        expect(codeOf(findInLeafChunk, chunk, leaf, { ...treeOf(file), leafCount })).to.be.oneOf([
          "PROOF_SHAPE",
          "ROOT_MISMATCH",
        ]);
    });

    it("rejects nodes that are not leaves of the chunk", () => {
      const nodes = [hashLeaf("x"), file.tree.root, ...file.tree.hashes(1), file.tree.hashes(0)[99] ?? ""];
      for (const node of nodes) expect(codeOf(findInLeafChunk, chunk, node, treeOf(file))).to.equal("USER_NOT_IN_FILE");
    });
  });
});
