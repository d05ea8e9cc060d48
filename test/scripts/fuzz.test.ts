import { expect } from "chai";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { readCorpus } from "../../scripts/fuzz/corpus.ts";
import { stopCoverage } from "../../scripts/fuzz/coverage.ts";
import { fuzz, outcomeOf, smallest } from "../../scripts/fuzz/fuzz.ts";
import { TARGETS } from "../../scripts/fuzz/targets.ts";
import { ROOT } from "../../scripts/test/root.ts";
import { ArgumentError } from "../../packages/keyroot/src/errors.ts";
import { everything } from "../support/everything.ts";
import { SEED } from "../support/faults.ts";
import { testAll } from "../support/testSize.ts";

/** The number of documents per target. */
const DOCUMENTS = testAll ? 1_000 : 300;
/** The time per target in the nightly run, in minutes. All targets together take one minute. */
const MINUTES = 1 / Object.keys(TARGETS).length;

/**
 * Runs the fuzzer in a separate process, because in a process that has loaded all tests, measuring the coverage is
 * slow.
 */
const run = (...words: string[]) =>
  promisify(execFile)(process.execPath, [join(ROOT, "scripts/fuzz/runFuzz.ts"), ...words]);

describe("fuzzing", () => {
  after(stopCoverage);

  for (const [name, makeTarget] of Object.entries(TARGETS))
    describe(`parser ${name}`, () => {
      const target = makeTarget();

      it("accepts all valid documents", () => {
        expect(target.seeds).to.have.length.above(1);
        for (const document of target.seeds) expect(outcomeOf(target, document)).to.equal("accepted");
      });

      it("returns the recorded outcome for each recorded document", () => {
        const found = readCorpus(name);
        expect(found).not.to.be.empty;
        for (const { outcome, bytes } of found) expect(outcomeOf(target, bytes)).to.equal(outcome);
      });
    });

  const extent = everything ? "within one minute for all parsers" : `in ${DOCUMENTS} changed documents for each parser`;
  it(`finds no defect ${extent}`, async () => {
    const { stdout } = await run(
      ...(everything ? ["--minutes", String(MINUTES)] : ["--documents", String(DOCUMENTS), "--seed", String(SEED)]),
    );
    const least = everything ? 1 : DOCUMENTS;
    const counts = stdout.matchAll(/^(\S+): (\d+) documents, .* ([1-9]\d*) functions ran/gm);
    const counted = Array.from(counts, ([, name, count]) => [name, Number(count) >= least]);
    expect(counted).to.deep.equal(Object.keys(TARGETS).map((name) => [name, true]));
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
    const { text } = JSON.parse(defect?.split("\n").at(-1) ?? "") as { text: string };
    expect(() => {
      parse(Buffer.from(text));
    }).to.throw(TypeError);
  });

  it("reaches code behind nested conditions by changing documents that ran new code", () => {
    const seeds = [Buffer.from("aaaaaaaa")];
    const parse = (bytes: Uint8Array) => {
      const [first, second, third] = Buffer.from(bytes).toString();
      if (first === "c") if (second === "e") if (third === "i") throw new TypeError("a defect");
    };
    const { defect, corpus } = fuzz({ seeds, parse }, { seed: 1, documents: 20_000 });
    expect(defect).to.include("a defect");
    expect(corpus.map(({ bytes }) => Buffer.from(bytes).toString().slice(0, 2))).to.include.members(["ca", "ce"]);
  });

  it("records the smallest documents that show all outcomes and run all code", () => {
    const seeds = [Buffer.from("a")];
    let long = 0;
    const parse = (bytes: Uint8Array) => {
      if (bytes.length > 2) long++;
      if (bytes.includes(0)) throw new ArgumentError("ARGUMENT_INVALID", "A zero.");
    };
    const documents = ["aaaa", "aaa", "aaaaa", "\0aaa", "\0a"].map((text) => Buffer.from(text));
    const found = smallest({ seeds, parse }, documents).map(({ bytes }) => Buffer.from(bytes).toString());
    expect(found).to.deep.equal(["\0a", "aaa"]);
    expect(long).to.equal(4);
  });

  it("keeps documents with new outcomes for further changes", () => {
    const seeds = [Buffer.from("aaaa")];
    const parse = (bytes: Uint8Array) => {
      throw new ArgumentError("ARGUMENT_INVALID", "x".repeat(Math.min(bytes.length, 40)));
    };
    const { corpus, accepted } = fuzz({ seeds, parse }, { seed: 1, documents: 2_000 });
    expect(corpus.length).to.be.above(10);
    expect(accepted).to.equal(0);
  });
});
