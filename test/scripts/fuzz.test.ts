import { expect } from "chai";
import { readCorpus } from "../../scripts/fuzz/corpus.ts";
import { fuzz, outcomeOf } from "../../scripts/fuzz/fuzz.ts";
import { TARGETS } from "../../scripts/fuzz/targets.ts";
import { ArgumentError } from "../../packages/keyroot/src/errors.ts";
import { SEED } from "../support/faults.ts";
import { testAll } from "../support/testSize.ts";

/** The number of documents per target. With `npm run test:all`, they take about ten seconds. */
const DOCUMENTS = testAll ? 8_000 : 300;

describe("fuzzing", () => {
  for (const [name, makeTarget] of Object.entries(TARGETS))
    describe(`parser ${name}`, () => {
      const target = makeTarget();

      it("accepts the valid documents", () => {
        expect(target.seeds).to.have.length.above(1);
        for (const document of target.seeds) expect(outcomeOf(target, document)).to.equal("accepted");
      });

      it("returns the recorded outcome for each recorded document", () => {
        const found = readCorpus(name);
        expect(found).not.to.be.empty;
        for (const { outcome, bytes } of found) expect(outcomeOf(target, bytes)).to.equal(outcome);
      });

      it(`finds no defect in ${DOCUMENTS} changed documents`, () => {
        const report = fuzz(target, { seed: SEED, documents: DOCUMENTS });
        expect(report.defect).to.equal(undefined);
        expect(report.documents).to.equal(DOCUMENTS);
      });
    });

  it("reports a defect with as few changes as possible", () => {
    const seeds = [Buffer.from('{"a":[1,2,3]}')];
    const parse = (bytes: Uint8Array) => {
      if (!Buffer.from(bytes).includes("]")) throw new TypeError("a defect");
      if (Buffer.from(bytes).includes("2")) throw new ArgumentError("ARGUMENT_INVALID", "No 2.");
    };
    const { defect } = fuzz({ seeds, parse }, { seed: 1, documents: 10_000 });
    expect(defect).to.include("a defect");
    expect(defect?.match(/"kind"/g)).to.have.length(1);
  });

  it("stores documents with new outcomes for further changes", () => {
    const seeds = [Buffer.from("aaaa")];
    const parse = (bytes: Uint8Array) => {
      throw new ArgumentError("ARGUMENT_INVALID", "x".repeat(Math.min(bytes.length, 40)));
    };
    const { corpus, accepted } = fuzz({ seeds, parse }, { seed: 1, documents: 2_000 });
    expect(corpus.size).to.be.above(10);
    expect(accepted).to.equal(0);
  });
});
