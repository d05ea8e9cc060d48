import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { VerificationError } from "keyroot";
import { verifyObjection } from "keyroot/account";
import { verifyAccountFile } from "../../../packages/keyroot/src/account/accountFile.ts";
import { type Input, toBytes, VECTORS } from "../../support/data/vectors.ts";

interface AccountVector {
  name: string;
  question: { userID: string; chainId: number; contract: string };
  input: Input;
  verdict: object;
}

interface ObjectionVector {
  name: string;
  question: { account: string };
  input: Input;
  verdict: object;
}

const PATH = new URL("accounts/accounts.json", VECTORS);
const OBJECTIONS = new URL("accounts/objections.json", VECTORS);
const SECOND = fileURLToPath(new URL("../../../scripts/secondVerifier/account.mjs", import.meta.url));
const set = JSON.parse(readFileSync(PATH, "utf8")) as { vectors: AccountVector[] };
const objections = JSON.parse(readFileSync(OBJECTIONS, "utf8")) as { vectors: ObjectionVector[] };

describe("test vectors of account files and objections", () => {
  it("include valid and invalid files with unique names", () => {
    const { vectors } = set;
    expect(new Set(vectors.map(({ name }) => name)).size).to.equal(vectors.length);
    expect(vectors.filter(({ verdict }) => "verified" in verdict)).to.have.lengthOf(11);
    expect(vectors).to.have.lengthOf.above(90);
  });

  for (const { name, question, input, verdict } of set.vectors)
    it(`have the expected verdict in the library: ${name}`, () => {
      expect(verdictOf(() => verifyFile(toBytes(input), question))).to.deep.equal(verdict);
    });

  for (const { name, question, input, verdict } of objections.vectors)
    it(`have the expected verdict in the library: ${name}`, () => {
      const text = Buffer.from(toBytes(input)).toString();
      expect(verdictOf(() => verifyObjection({ text: question.account }, text))).to.deep.equal(verdict);
    });

  describe("with the second verifier", () => {
    it("have the expected verdicts", () => {
      const { stdout, status } = spawnSync(process.execPath, [SECOND, fileURLToPath(PATH), fileURLToPath(OBJECTIONS)], {
        encoding: "utf8",
      });
      expect(stdout.split("\n").filter((line) => line.startsWith("DISAGREE"))).to.deep.equal([]);
      expect(stdout.match(/^agree/gm)).to.have.lengthOf(set.vectors.length + objections.vectors.length);
      expect(status).to.equal(0);
    });

    it("need only Node's modules", () => {
      const imports = [...readFileSync(SECOND, "utf8").matchAll(/\bfrom "([^"]+)"/g)].map(([, name]) => name);
      expect(imports).to.have.lengthOf(4);
      for (const name of imports) expect(name).to.match(/^node:/);
    });
  });
});

function verifyFile(bytes: Uint8Array, { userID, ...place }: AccountVector["question"]): object {
  return verifyAccountFile(bytes, userID, place);
}

/** The verdict as JSON, which has no undefined fields. */
function verdictOf(verify: () => object): object {
  try {
    return { verified: JSON.parse(JSON.stringify(verify())) as object };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return { step: error.step, code: error.code };
  }
}
