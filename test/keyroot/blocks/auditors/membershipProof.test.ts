import { expect } from "chai";
import { createHash } from "node:crypto";
import { ANY_KEY, makeMerkleFile } from "keyroot";
import { makeMembership, verifyMembership } from "keyroot/auditors";
import { hashRoots, proveInclusion, serializeRoots, verifyInclusion } from "keyroot/auditors/protocol";
import { statementText, treeOf } from "../../../support/auditors/statementHost.ts";
import { signedBy, testAuditors } from "../../../support/auditors/testAuditor.ts";
import { codeOf } from "../../../support/refusalOf.ts";
import { sampleRecords } from "../../../support/samples.ts";
import { never } from "../../../support/support.ts";

const PLACE = { chainId: 1, contract: `0x${"ab".repeat(20)}` };
const TIME = 1_800_000_000;
const auditors = testAuditors("a", "b");
const OPTIONS = { keys: auditors.map(({ key }) => key), threshold: 2 };
const records = sampleRecords(6);
const files = [records.slice(0, 2), records.slice(2, 5), records.slice(5)].map(makeMerkleFile);
const [, file = never()] = files;
const { userID } = records[2] ?? never();

/** Makes a statement about all files. The contract stores a newer root for `superseded` users of the second file. */
function worldWith(superseded: number) {
  const entries = files.map(({ tree, records }, i) => {
    return { root: tree.root, recordCount: records.length, userCount: records.length - (i === 1 ? superseded : 0) };
  });
  const block = { number: 300, hash: `0x${"cd".repeat(32)}` };
  const text = statementText(PLACE, block, { userCount: 6 - superseded, tree: treeOf(entries) });
  return { statement: Buffer.from(signedBy(auditors, text, TIME)), roots: Buffer.from(serializeRoots(entries)) };
}

describe("membership proof", () => {
  const { statement, roots } = worldWith(0);
  const membership = makeMembership(statement, roots, file, userID);
  const verify = (changes: object = {}, options = OPTIONS) =>
    verifyMembership(
      Buffer.from(JSON.stringify({ ...membership, ...changes })),
      { ...PLACE, userID, expectedPublicKey: ANY_KEY },
      options,
      TIME * 1000,
    );

  it("needs only an auditors' statement to prove a user's key", () => {
    const { record, evidence } = verify();
    expect(record).to.deep.equal(records[2]);
    expect(evidence).to.deep.equal({
      anchor: "auditors",
      storageProof: false,
      auditors: OPTIONS.keys,
      uniqueness: "auditors",
    });
  });

  it("is rejected after any change to its fields", () => {
    const other = makeMembership(statement, roots, files[0] ?? never(), records[0]?.userID ?? "");
    for (const change of [{ recordCount: 2 }, { index: 0 }, { index: 3 }, { path: [] }, { path: other.path }])
      expect(codeOf(verify, change), JSON.stringify(change)).to.equal("STATEMENT_TREE_MISMATCH");
    expect(codeOf(verify, { proof: other.proof })).to.equal("STATEMENT_TREE_MISMATCH");
    expect(codeOf(verify, other)).to.equal("USER_MISMATCH");
    expect(codeOf(verify, { format: "x" })).to.equal("PROOF_SHAPE");
    expect(codeOf(verify, {}, { ...OPTIONS, keys: [OPTIONS.keys[0] ?? ""] })).to.equal("ARGUMENT_INVALID");
  });

  it("cannot be made for a file that contains an outdated record", () => {
    const world = worldWith(1);
    expect(codeOf(makeMembership, world.statement, world.roots, file, userID)).to.equal("STATEMENT_TREE_MISMATCH");
    const forged = { statement: world.statement.toString() };
    expect(codeOf(verify, forged)).to.equal("STATEMENT_TREE_MISMATCH");
  });

  it("is rejected for a file that contains an outdated record", () => {
    const world = worldWith(1);
    const path = proveInclusion(world.roots.toString().trim().split("\n"), 1);
    const statement = world.statement.toString();
    for (const recordCount of [0, 1, 2, 3, 4])
      expect(codeOf(verify, { statement, path, recordCount })).to.equal("STATEMENT_TREE_MISMATCH");
  });
});

describe("tree of roots", () => {
  const sha256 = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();
  /** Computes a tree's hash directly from the definition in RFC 6962, section 2.1. */
  const treeHash = (leaves: readonly string[]): Buffer => {
    if (leaves.length === 0) return sha256();
    if (leaves.length === 1) return sha256(Uint8Array.of(0), Buffer.from(leaves[0] ?? ""));
    const k = 2 ** Math.floor(Math.log2(leaves.length - 1));
    return sha256(Uint8Array.of(1), treeHash(leaves.slice(0, k)), treeHash(leaves.slice(k)));
  };

  it("has the hashes and inclusion proofs that RFC 6962 defines", () => {
    for (let size = 0; size <= 40; size++) {
      const leaves = Array.from({ length: size }, (_, i) => `leaf ${i}`);
      const tree = { size, hash: hashRoots(leaves) };
      expect(tree.hash).to.equal(treeHash(leaves).toString("hex"));
      for (const [i, leaf] of leaves.entries()) {
        const path = proveInclusion(leaves, i);
        expect(verifyInclusion(leaf, i, path, tree), `${i} of ${size}`).to.equal(true);
        expect(verifyInclusion(leaf, i + 1, path, tree)).to.equal(false);
        expect(verifyInclusion(`${leaf}x`, i, path, tree)).to.equal(false);
        if (path.length > 0) expect(verifyInclusion(leaf, i, path.slice(1), tree)).to.equal(false);
        expect(verifyInclusion(leaf, i, [...path, tree.hash], tree)).to.equal(false);
      }
    }
  });
});
