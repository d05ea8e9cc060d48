import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type Input, toBytes, toInput, VECTORS } from "../../test/support/data/vectors.ts";

/** A document that fuzzing found, with the parser's result. */
export interface FoundDocument {
  outcome: string;
  bytes: Uint8Array;
}

const fileOf = (target: string) => new URL(`fuzz/${target}.json`, VECTORS);

/** Reads the documents that fuzzing found for a target. */
export function readCorpus(target: string): FoundDocument[] {
  if (!existsSync(fileOf(target))) return [];
  const { vectors } = JSON.parse(readFileSync(fileOf(target), "utf8")) as {
    vectors: { outcome: string; input: Input }[];
  };
  return vectors.map(({ outcome, input }) => ({ outcome, bytes: toBytes(input) }));
}

export function writeCorpus(target: string, found: readonly FoundDocument[]): void {
  const vectors = found.map(({ outcome, bytes }) => ({ outcome, input: toInput(bytes) }));
  const set = { format: "keyroot-fuzz-v1", target, vectors };
  writeFileSync(fileOf(target), `${JSON.stringify(set, null, 1)}\n`);
}
