import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { VerificationError } from "keyroot";
import { verifyAccountFile } from "../../../packages/keyroot/src/account/accountFile.ts";
import { type Input, toBytes, VECTORS } from "../../support/data/vectors.ts";

interface AccountVector {
  name: string;
  question: { userID: string; chainId: number; contract: string };
  input: Input;
  verdict: object;
}

const PATH = new URL("accounts/accounts.json", VECTORS);
const SECOND = fileURLToPath(new URL("../../../scripts/secondVerifier/account.mjs", import.meta.url));
const set = JSON.parse(readFileSync(PATH, "utf8")) as { vectors: AccountVector[] };

describe("test vectors of account files", () => {
  it("include valid and invalid files with unique names", () => {
    const { vectors } = set;
    expect(new Set(vectors.map(({ name }) => name)).size).to.equal(vectors.length);
    expect(vectors.filter(({ verdict }) => "verified" in verdict)).to.have.lengthOf(10);
    expect(vectors).to.have.lengthOf.above(90);
  });

  for (const { name, question, input, verdict } of set.vectors)
    it(`have the expected verdict in the library: ${name}`, () => {
      expect(verdictOf(toBytes(input), question)).to.deep.equal(verdict);
    });

  describe("with the second verifier", () => {
    it("have the expected verdicts", () => {
      const { stdout, status } = spawnSync(process.execPath, [SECOND, fileURLToPath(PATH)], { encoding: "utf8" });
      expect(stdout.split("\n").filter((line) => line.startsWith("DISAGREE"))).to.deep.equal([]);
      expect(stdout.match(/^agree/gm)).to.have.lengthOf(set.vectors.length);
      expect(status).to.equal(0);
    });

    it("need only Node's modules", () => {
      const imports = [...readFileSync(SECOND, "utf8").matchAll(/\bfrom "([^"]+)"/g)].map(([, name]) => name);
      expect(imports).to.have.lengthOf(3);
      for (const name of imports) expect(name).to.match(/^node:/);
    });
  });
});

function verdictOf(bytes: Uint8Array, { userID, ...place }: AccountVector["question"]): object {
  try {
    return { verified: verifyAccountFile(bytes, userID, place) };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return { step: error.step, code: error.code };
  }
}
