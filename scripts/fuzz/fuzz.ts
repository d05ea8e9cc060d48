import fc from "fast-check";
import { KeyrootError } from "../../packages/keyroot/src/errors.ts";
import { changes, mutate } from "./mutate.ts";
import type { Target } from "./targets.ts";

export interface FuzzReport {
  documents: number;
  accepted: number;
  /** The first document for each new result, which no seed and no earlier document had. */
  corpus: Map<string, Uint8Array>;
  /** fast-check's report about a defect, with the seed that repeats it. Undefined if there is no defect. */
  defect: string | undefined;
}

export interface FuzzOptions {
  seed: number;
  documents: number;
  /** The time in ms after which no further document is made. Default: no limit. */
  maxMs?: number;
  /** The initial documents of the corpus. */
  corpus?: readonly Uint8Array[];
}

/** The maximum size of a document in the corpus in bytes, so that the document can become a test vector. */
const MAX_CORPUS_BYTES = 4096;

/**
 * Changes documents and parses them. A document with a new result is added to the documents to change. Every error that is
 * not a KeyrootError is a defect.
 */
export function fuzz(target: Target, { seed, documents, maxMs, corpus = [] }: FuzzOptions): FuzzReport {
  const pool = [...target.seeds, ...corpus];
  const seen = new Set(pool.map((document) => outcomeOf(target, document)));
  const report: FuzzReport = { documents: 0, accepted: 0, corpus: new Map(), defect: undefined };
  const property = fc.property(fc.nat(), fc.nat(), changes, (first, second, list) => {
    const [document, other] = [pool[first % pool.length], pool[second % pool.length]];
    const mutant = mutate(document ?? new Uint8Array(), other ?? new Uint8Array(), list);
    const outcome = outcomeOf(target, mutant);
    report.documents++;
    if (outcome === ACCEPTED) report.accepted++;
    if (seen.has(outcome) || mutant.length > MAX_CORPUS_BYTES) return;
    seen.add(outcome);
    pool.push(mutant);
    report.corpus.set(outcome, mutant);
  });
  const limit = maxMs === undefined ? {} : { interruptAfterTimeLimit: maxMs, markInterruptAsFailure: false };
  // A run that ends before its first document fails without a counterexample.
  const { errorInstance, counterexample } = fc.check(property, { seed, numRuns: documents, ...limit });
  if (counterexample !== null)
    report.defect = `seed ${seed}: ${JSON.stringify(counterexample)}\n${String(errorInstance)}`;
  return report;
}

const ACCEPTED = "accepted";

/**
 * Returns the result for a document: "accepted", or the code and the beginning of the message. @throws any error that is a
 * defect
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

/** Returns the beginning of a message, up to the first quote, number or path. These differ between documents. */
function beginningOf(message: string): string {
  return message.split(/["\d[]|\b\w+[.]\w/, 1)[0]?.trim() ?? "";
}
