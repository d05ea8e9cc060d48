import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compareOnMutants } from "../support/data/fileMutants.ts";
import { reported, SEED } from "../support/faults.ts";
import { isLarge } from "../support/testSize.ts";
import { readVectors, type Verdict, verdictOf, VECTORS, type VectorSet } from "../support/data/vectors.ts";
import { VerificationError } from "keyroot";
import { type AccountHolder, type KeyHolder, makeSafetyCode, verifySafetyPayload } from "keyroot/safety-code";

const SECOND_VERIFIER = fileURLToPath(new URL("../../scripts/secondVerifier/verifier.mjs", import.meta.url));

interface SafetyCodeSet {
  kind: "safety-code";
  vectors: {
    name: string;
    question: { mine: KeyHolder; contact: KeyHolder } | { mine: AccountHolder; contact: AccountHolder };
    input: { text: string };
    verdict: { verified: { digits: string } } | Verdict;
  }[];
}

describe("test vectors", () => {
  const files = readdirSync(VECTORS).filter((name) => name.endsWith(".json"));
  const sets = files.map((name) => readVectors(name) as VectorSet | SafetyCodeSet);

  const secondVerifier = (paths: string[], input = "") =>
    spawnSync(process.execPath, [SECOND_VERIFIER, ...paths], { input, encoding: "utf8", maxBuffer: 2 ** 28 });

  it("have unique names", () => {
    const names = sets.flatMap(({ vectors }) => vectors.map(({ name }) => name));
    expect(names).to.have.lengthOf.above(700);
    expect(new Set(names)).to.have.property("size", names.length);
  });

  it("have the expected verdicts in the library", async () => {
    const documents = sets.filter((set) => set.kind !== "safety-code");
    for (const { name, verdict, ...vector } of documents.flatMap(({ kind, vectors }) =>
      vectors.map((vector) => ({ ...vector, kind })),
    )) {
      expect(await verdictOf(vector), name).to.deep.equal(verdict);
    }
  });

  it("have the expected safety-code verdicts in the library", () => {
    const codes = sets.filter((set) => set.kind === "safety-code").flatMap(({ vectors }) => vectors);
    expect(codes).to.have.lengthOf.above(30);
    for (const { name, question, input, verdict } of codes) {
      expect(safetyVerdict(question, input.text), name).to.deep.equal(verdict);
    }
  });

  describe("with the second verifier", () => {
    it("have the expected verdicts", () => {
      const { stdout, status } = secondVerifier(files.map((name) => fileURLToPath(new URL(name, VECTORS))));
      expect(stdout.split("\n").filter((line) => line.startsWith("DISAGREE"))).to.deep.equal([]);
      expect(status).to.equal(0);
    });

    it("cause exit code 1 if verdicts are wrong", () => {
      const [set] = sets;
      const wrong = set?.vectors.map((vector) => ({ ...vector, verdict: { step: "file", code: "FILE_SHAPE" } }));
      const { stdout, status } = secondVerifier(["-"], JSON.stringify({ ...set, vectors: wrong }));
      expect(stdout.match(/^DISAGREE /gm)).to.have.length(wrong?.length ?? 0);
      expect(status).to.equal(1);
    });

    it("cause exit code 1 if the set is empty or unknown", () => {
      expect(secondVerifier([])).to.include({ status: 1 });
      expect(secondVerifier(["-"], JSON.stringify({ ...sets[0], format: "keyroot-vectors-v2" }))).to.include({
        status: 1,
      });
    });

    it("need only Node's modules and ethers", () => {
      const files = [SECOND_VERIFIER];
      for (const file of files)
        for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(
          /\b(?:from|import\(|require\()\s*"([^"]+)"/g,
        )) {
          expect(specifier, file).to.match(/^(?:node:.*|ethers|\.\/\w+\.mjs)$/);
          const imported = join(dirname(SECOND_VERIFIER), specifier);
          if (specifier.startsWith("./") && !files.includes(imported)) files.push(imported);
        }
      expect(files.length).to.be.above(2);
    });

    // `FAULTS=large npm test -- test/keyroot/vectors.test.ts` compares 100,000 changes. `FAULTS_SEED=2` selects
    // different changes.
    it("have the library's verdicts after random changes", async function () {
      if (isLarge) this.timeout(0);
      const { accepted, rejected, findings } = await reported(compareOnMutants(isLarge ? 100_000 : 2000, SEED));
      expect(findings, `FAULTS_SEED=${SEED}`).to.deep.equal([]);
      expect(accepted).to.be.greaterThan(50);
      expect(rejected).to.be.greaterThan(1000);
    });
  });
});

/** Returns the library's verdict on a contact's payload. */
function safetyVerdict({ mine, contact }: SafetyCodeSet["vectors"][number]["question"], payload: string) {
  try {
    verifySafetyPayload(payload, mine, contact);
    return { verified: { digits: makeSafetyCode(mine, contact).digits } };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return { step: error.step, code: error.code };
  }
}
