import { Coverage } from "./coverage.ts";
import fc from "fast-check";
import { KeyrootError } from "../../packages/keyroot/src/errors.ts";
import { toInput } from "../../test/support/data/vectors.ts";
import type { FoundDocument } from "./corpus.ts";
import { changes, mutate } from "./mutate.ts";
import type { Target } from "./targets.ts";

export interface FuzzReport {
  documents: number;
  accepted: number;
  /** The documents with a new result, and those that run code that no seed and no earlier document ran. */
  corpus: FoundDocument[];
  coverage: Coverage;
  /** fast-check's report about a defect, with the seed that repeats it. Undefined if there is no defect. */
  defect: string | undefined;
}

export interface FuzzOptions {
  seed: number;
  documents: number;
  /** The time in ms after which the fuzzer makes no further document. Default: no limit. */
  maxMs?: number;
  /** The initial documents of the corpus. */
  corpus?: readonly Uint8Array[];
}

/** The maximum size of a document in the corpus in bytes, so that it can become a test vector. */
const MAX_CORPUS_BYTES = 4096;

/**
 * The number of documents between two measurements of coverage. One measurement takes as much time as a few documents.
 */
const BATCH = 128;

/**
 * Changes documents at random and parses the results. A changed document with a new result or new code is then also
 * used as a source of further changes. Every error that is not a KeyrootError is a defect.
 */
export function fuzz(target: Target, { seed, documents, maxMs, corpus = [] }: FuzzOptions): FuzzReport {
  const pool = [...target.seeds, ...corpus];
  const { outcomes, coverage } = resultsOf(target, pool);
  const report: FuzzReport = { documents: 0, accepted: 0, corpus: [], coverage, defect: undefined };
  let batch: FoundDocument[] = [];

  const keep = (found: FoundDocument) => {
    if (found.bytes.length > MAX_CORPUS_BYTES || report.corpus.includes(found)) return;
    outcomes.add(found.outcome);
    pool.push(found.bytes);
    report.corpus.push(found);
  };
  /**
   * Keeps the documents that ran new code. To find them, it parses each half of the documents again, and repeats this
   * until a single document remains.
   */
  const keepNewCode = (ran: readonly FoundDocument[]) => {
    const isSingle = ran.length === 1;
    if (!coverage.ranNewCode({ add: isSingle })) return;
    if (isSingle) {
      ran.forEach(keep);
      return;
    }
    const middle = ran.length >> 1;
    for (const half of [ran.slice(0, middle), ran.slice(middle)]) {
      for (const { bytes } of half) outcomeOf(target, bytes);
      keepNewCode(half);
    }
  };

  const property = fc.property(fc.nat(), fc.nat(), changes, (first, second, list) => {
    const [document, other] = [pool[first % pool.length], pool[second % pool.length]];
    const bytes = mutate(document ?? new Uint8Array(), other ?? new Uint8Array(), list);
    const found = { outcome: outcomeOrDefect(target, bytes), bytes };
    report.documents++;
    if (found.outcome === ACCEPTED) report.accepted++;
    if (!outcomes.has(found.outcome)) keep(found);
    batch.push(found);
    if (batch.length < BATCH) return;
    keepNewCode(batch);
    batch = [];
  });
  const limit = maxMs === undefined ? {} : { interruptAfterTimeLimit: maxMs, markInterruptAsFailure: false };
  // A run that ends before the first document fails without a counterexample.
  const { errorInstance, counterexample } = fc.check(property, { seed, numRuns: documents, ...limit });
  if (batch.length > 0) keepNewCode(batch);
  if (counterexample !== null) {
    const { message, cause } = errorInstance as Error;
    report.defect = `seed ${seed}: ${JSON.stringify(counterexample)}\n${String(cause)}\n${message}`;
  }
  return report;
}

/** Returns the smallest documents that, with the seeds, have all results and run all code of the given documents. */
export function smallest(target: Target, documents: readonly Uint8Array[]): FoundDocument[] {
  const { outcomes, coverage } = resultsOf(target, target.seeds);
  const kept: FoundDocument[] = [];
  for (const bytes of documents.toSorted((a, b) => a.length - b.length)) {
    const outcome = outcomeOf(target, bytes);
    // Measure the coverage of every document, even if its result is new.
    if (!coverage.ranNewCode({ add: true }) && outcomes.has(outcome)) continue;
    outcomes.add(outcome);
    kept.push({ outcome, bytes });
  }
  return kept;
}

/** Parses one document. @throws Error if an error is a defect. The message contains the document */
function outcomeOrDefect(target: Target, document: Uint8Array): string {
  try {
    return outcomeOf(target, document);
  } catch (error) {
    throw new Error(JSON.stringify(toInput(document)), { cause: error });
  }
}

/** Parses documents. @returns the documents' results, and the code that ran */
function resultsOf(target: Target, documents: readonly Uint8Array[]) {
  const coverage = new Coverage();
  const outcomes = new Set(documents.map((document) => outcomeOf(target, document)));
  coverage.ranNewCode({ add: true });
  return { outcomes, coverage };
}

const ACCEPTED = "accepted";

/**
 * Returns the result of parsing a document: "accepted", or the error's code and the beginning of its message.
 * @throws any error that is a defect
 */
export function outcomeOf({ parse }: Pick<Target, "parse">, document: Uint8Array): string {
  try {
    parse(document);
    return ACCEPTED;
  } catch (error) {
    if (!(error instanceof KeyrootError)) throw error;
    return `${error.code}: ${beginningOf(error.message)}`;
  }
}

/**
 * Returns the part of a message that is the same for all documents. It ends before the first quote, path, or word with
 * a digit.
 */
function beginningOf(message: string): string {
  return message.split(/["[]|(?<!\w)'|\b\w+[.]\w|\b\w*\d/, 1)[0]?.trim() ?? "";
}
