import { expect } from "chai";
import { ANY_KEY, type KeyRecord, VerificationError } from "keyroot";
import { makeMerkleFile } from "keyroot/merkle";
import type { KeyQuery } from "../../../packages/keyroot/src/verifier/options.ts";
import type { RootAnswers } from "../../../packages/keyroot/src/verifier/rootByCall.ts";
import { verifyRoot } from "../../../packages/keyroot/src/verifier/verdict.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { sampleRecords } from "../../support/samples.ts";

const HASH = `0x${"c0de".repeat(16)}`;
const OTHER_HASH = `0x${"0c0d".repeat(16)}`;
const ZERO = `0x${"0".repeat(64)}`;

describe("verifyRoot", () => {
  const records = sampleRecords(3);
  const [{ userID }] = records as [KeyRecord];
  const { root } = makeMerkleFile(records).tree;

  const query: KeyQuery = {
    userID,
    chainId: 11_155_111,
    contract: "0x997715D0eb47A50D7521ed0D2D023624a4333F9A",
    expectedPublicKey: ANY_KEY,
  };
  const answers: RootAnswers = { chainId: "0xaa36a7", codeHash: undefined, root: `0x${root}` };

  describe("for an endpoint's answers", () => {
    const verify = (changes: Partial<KeyQuery>, answered: Partial<RootAnswers>) =>
      verifyRoot(
        { ...query, ...changes },
        { ...answers, ...answered },
        { source: "one-endpoint", storageProof: false },
      );

    it("returns the user's root", () => {
      expect(verify({}, {})).to.equal(root);
    });

    it("returns the root in lower case", () => {
      expect(verify({}, { root: `0x${root.toUpperCase()}` })).to.equal(root);
    });

    it("accepts the expected code", () => {
      expect(verify({ codeHash: HASH }, { codeHash: HASH })).to.equal(root);
    });

    const unlike = (expected: unknown, actual: unknown) => ({ expected, actual });
    const falsehoods = [
      ["CHAIN_ID_MISMATCH: the endpoint belongs to another chain", {}, { chainId: "0x1" }, unlike(11_155_111, 1)],
      ["NO_CONTRACT: the address has no code", {}, { root: "0x" }, unlike(undefined, "0x")],
      ["CODE_HASH_MISMATCH: the code differs", { codeHash: HASH }, { codeHash: OTHER_HASH }, unlike(HASH, OTHER_HASH)],
      ["CODE_HASH_MISMATCH: the code was not read", { codeHash: HASH }, {}, unlike(HASH, undefined)],
      ["NOT_PUBLISHED: the user has no root", {}, { root: ZERO }, unlike("a root", "zero")],
    ] as const;
    for (const [name, expected, answered, details] of falsehoods) {
      const [code = "", what] = name.split(": ");
      it(`throws ${code} if ${what}`, () => {
        expect(() => verify(expected, answered))
          .to.throw(VerificationError)
          .and.include({ step: "root", code, ...details });
      });
    }

    it("reports a wrong chain before a missing contract", () => {
      expect(() => verify({}, { chainId: "0x1", root: "0x" })).to.throw("chain");
      expect(() => verify({ codeHash: HASH }, { codeHash: OTHER_HASH, root: ZERO })).to.throw("code");
    });

    it("throws RPC_ANSWER_INVALID for a malformed answer", () => {
      for (const answered of [{ chainId: 11_155_111 }, { chainId: undefined }, { root: null }, { root }])
        expect(refusalOf(verify, {}, answered)).to.equal("transport: RPC_ANSWER_INVALID");
    });
  });
});
