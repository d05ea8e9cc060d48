import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { VerificationError } from "keyroot";
import { ArgumentError } from "keyroot";
import { maxVoidStatements, verifyAccountFile, verifyObjection } from "keyroot/account";
import { plainAccount, plainAccountFile, plainKey, plainStatement } from "../../support/account/plainAccount.ts";
import { WorkCounter } from "../../support/countWork.ts";
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
    expect(vectors.filter(({ verdict }) => "verified" in verdict)).to.have.lengthOf(13);
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

  describe("of hostile contacts", () => {
    const MAX_CHECKS = 32;
    const place = { chainId: 31337, contract: `0x${"12".repeat(20)}` };
    const fileOf = (threshold: number, voids: number) => {
      const keys = Array.from({ length: threshold }, (_, i) => plainKey("ed25519", `key ${i}`));
      const account = plainAccount(keys, threshold);
      const ofKey = plainStatement(account, 0, Buffer.alloc(32, 1).toString("base64"));
      const ofVoids = Array.from({ length: voids }, (_, i) => plainStatement(account, i + 1, undefined));
      return { userID: account.userID, bytes: Buffer.from(plainAccountFile(account, [ofKey, ...ofVoids])) };
    };

    it(`cost their readers at most ${MAX_CHECKS} checks of signatures, whatever the threshold`, () => {
      using counter = new WorkCounter();
      const costs = [1, 2, 3, 7, 11, 16].map((threshold) => {
        const read = (voids: number) => {
          const { userID, bytes } = fileOf(threshold, voids);
          let verdict: object = {};
          const { signatures } = counter.count(() => {
            verdict = verdictOf(() => verifyAccountFile(bytes, userID, place));
          });
          return { signatures, isValid: "verified" in verdict };
        };
        const most = maxVoidStatements({ threshold });
        expect(read(most), String(threshold)).to.deep.equal({ signatures: threshold * (most + 1), isValid: true });
        expect(read(most + 1), String(threshold)).to.deep.equal({ signatures: 0, isValid: false });
        return threshold * (most + 1);
      });
      expect(Math.max(...costs)).to.equal(MAX_CHECKS);
    });

    it("have no maximum number of void statements without a threshold", () => {
      for (const account of [{ threshold: 0 }, { threshold: 1.5 }, {}, undefined])
        expect(() => maxVoidStatements(account as { threshold: number })).to.throw(ArgumentError);
    });
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
