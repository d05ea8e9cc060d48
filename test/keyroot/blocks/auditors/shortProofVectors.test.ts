import { expect } from "chai";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { VerificationError } from "keyroot";
import { chunkNumber } from "../../../../packages/keyroot/src/merkle/chunkNumber.ts";
import { findInLeafChunk } from "../../../../packages/keyroot/src/merkle/findInLeafChunk.ts";
import { parseSubtrees, verifyRootProof } from "../../../../packages/keyroot/src/blocks/auditors/rootProof.ts";
import { VECTORS } from "../../../support/data/vectors.ts";

type ShortProofVector = { name: string; verdict: object } & (
  | { check: "chunk-number"; question: { userID: string; leafCount: number } }
  | {
      check: "leaf-chunk";
      question: { root: string; leafCount: number; leaf: string };
      input: { base64: string };
    }
  | {
      check: "root-proof";
      question: { root: string; tree: { size: number; hash: string } };
      input: { subtrees: string; proof: string };
    }
);

const PATH = fileURLToPath(new URL("short-proofs/short-proofs.json", VECTORS));
const SECOND = fileURLToPath(new URL("../../../../scripts/secondVerifier/shortProofs.mjs", import.meta.url));
const { vectors } = JSON.parse(readFileSync(PATH, "utf8")) as { vectors: ShortProofVector[] };

describe("test vectors of short proofs", () => {
  it("include the documented number of valid and invalid proofs", () => {
    expect(readFileSync(new URL("README.md", VECTORS), "utf8")).to.include(`has ${vectors.length} vectors for leaf`);
    expect(vectors.filter(({ verdict }) => "code" in verdict)).to.have.lengthOf(32);
  });

  it("have the expected verdicts in a second implementation", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [SECOND, PATH]);
    expect(stdout.trim().split("\n")).to.deep.equal(vectors.map(({ name }) => `agree ${name}`));
  });

  for (const vector of vectors)
    it(`have the expected verdict in the library: ${vector.name}`, () => {
      expect(verdictOf(vector)).to.deep.equal(vector.verdict);
    });
});

function verdictOf(vector: ShortProofVector): object {
  try {
    switch (vector.check) {
      case "chunk-number":
        return { number: chunkNumber(vector.question.userID, vector.question.leafCount) };
      case "leaf-chunk": {
        const { leaf, ...tree } = vector.question;
        return { index: findInLeafChunk(new Uint8Array(Buffer.from(vector.input.base64, "base64")), leaf, tree) };
      }
      case "root-proof": {
        const { root, tree } = vector.question;
        const tops = parseSubtrees(new Uint8Array(Buffer.from(vector.input.subtrees)), tree);
        const proof = new Uint8Array(Buffer.from(vector.input.proof));
        const { recordCount, userCount } = verifyRootProof(proof, root, tree.size, tops);
        return { recordCount, userCount };
      }
    }
  } catch (error) {
    if (error instanceof VerificationError) return { code: error.code };
    throw error;
  }
}
