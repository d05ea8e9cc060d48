/**
 * The result of a benchmark. It is printed as the last line of standard output. All other output goes to standard
 * error.
 */
export interface Measured {
  /** The tables of figures, by name. */
  figures: Record<string, Figures>;
  ratios: readonly Ratio[];
}

/** A table of figures. All rows have the same columns, and each column has one unit. */
export interface Figures {
  /** The measured quantity, with units. */
  what: string;
  rows: readonly Row[];
}

export type Row = Record<string, string | number | boolean | null>;

/** A figure with a limit, which is often relative to another figure of the same run. */
export interface Ratio {
  what: string;
  value: number;
  /** The maximum that meets the goal. */
  atMost?: number;
  atLeast?: number;
}

/** True for a run with small data (`npm run bench -- --small`), which tests the benchmark and measures nothing. */
export const SMALL = process.argv.includes("--small");

/** Prints the result of a benchmark for the runner. */
export function report(measured: Measured): void {
  process.stdout.write(`${JSON.stringify(measured)}\n`);
}

/** Prints progress on standard error. */
export function progress(text: string): void {
  process.stderr.write(`  ${text}\n`);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return ((sorted[middle] ?? NaN) + (sorted[sorted.length % 2 === 0 ? middle - 1 : middle] ?? NaN)) / 2;
}

export function round(value: number): number {
  return Number(value.toPrecision(4));
}
