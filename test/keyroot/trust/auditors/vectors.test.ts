import { expect } from "chai";
import { readFileSync } from "node:fs";
import { verifyStatement } from "keyroot/auditors";
import { VerificationError } from "keyroot";
import { VECTORS } from "../../../support/data/vectors.ts";

interface StatementVector {
  name: string;
  /** All times are in seconds. */
  question: { chainId: number; contract: string; keys: string[]; threshold: number; now: number; maxAge?: number };
  input: { text: string } | { base64: string };
  verdict: object;
}

const PATH = new URL("statements/statements.json", VECTORS);
const { vectors } = JSON.parse(readFileSync(PATH, "utf8")) as { vectors: StatementVector[] };

describe("test vectors of statements", () => {
  it("include valid and invalid statements", () => {
    expect(vectors).to.have.lengthOf(41);
    expect(vectors.filter(({ verdict }) => "verified" in verdict)).to.have.lengthOf(10);
  });

  for (const { name, question, input, verdict } of vectors)
    it(`have the expected verdict in the library: ${name}`, () => {
      const bytes = "text" in input ? Buffer.from(input.text) : Buffer.from(input.base64, "base64");
      expect(verdictOf(bytes, question)).to.deep.equal(verdict);
    });
});

function verdictOf(bytes: Uint8Array, { keys, threshold, now, maxAge, ...place }: StatementVector["question"]): object {
  const options = { keys, threshold, ...(maxAge !== undefined && { maxAgeMs: maxAge * 1000 }) };
  try {
    const { chainId, contract, ...verified } = verifyStatement(bytes, place, options, now * 1000);
    expect({ chainId, contract }).to.deep.equal({ ...place, contract: place.contract.toLowerCase() });
    return { verified };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return { step: error.step, code: error.code };
  }
}
