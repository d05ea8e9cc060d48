/**
 * Changes valid documents at random and parses the results. Documents that run new code are changed further. This finds
 * errors that callers do not expect, and documents that are wrongly accepted:
 *
 *     npm run fuzz                          all targets, one minute each
 *     npm run fuzz -- TARGET --minutes N    one target: file, proof, bundle, rlp, header, statement, account,
 *                                           account-file, objection, light-client
 *     npm run fuzz -- TARGET --seed N       repeats a run
 *     npm run fuzz -- --documents N         all targets, this many documents each
 *     npm run fuzz -- --record              adds documents with new outcomes or new code to test/vectors/fuzz
 *
 * The exit code is 1 if there is a defect.
 */
import { parseArgs } from "node:util";
import "./startCoverage.ts";
import { readCorpus, writeCorpus } from "./corpus.ts";
import { fuzz, smallest } from "./fuzz.ts";
import { TARGETS } from "./targets.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "1" },
    documents: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    record: { type: "boolean", default: false },
  },
});

/** The number of documents per target, or else the time per target. */
const limit =
  values.documents === undefined
    ? { documents: Number.MAX_SAFE_INTEGER, maxMs: Number(values.minutes) * 60_000 }
    : { documents: Number(values.documents) };

for (const name of positionals.length > 0 ? positionals : Object.keys(TARGETS)) {
  const target = TARGETS[name]?.();
  if (target === undefined) {
    throw new Error(`There is no target "${name}". Choose from: ${Object.keys(TARGETS).join(", ")}.`);
  }
  const known = readCorpus(name).map(({ bytes }) => bytes);
  const seed = Number(values.seed);
  const report = fuzz(target, { seed, ...limit, corpus: known });
  const { documents, accepted, corpus, coverage, defect } = report;
  process.stdout.write(
    `${name}: ${documents} documents, ${accepted} accepted, ${known.length} recorded and ${corpus.length} new in the corpus, ` +
      `${coverage.functions} functions ran except for ${coverage.idleBlocks} blocks, seed ${seed}\n`,
  );
  if (values.record) writeCorpus(name, smallest(target, [...known, ...corpus.map(({ bytes }) => bytes)]));
  if (defect === undefined) continue;
  process.stderr.write(`A defect in ${name}:\n${defect}\n`);
  process.exitCode = 1;
}
