/**
 * Code coverage as V8 measures it. The fuzzer `@jazzer.js/core` 4.0.0 reaches about the same code, but is not used,
 * because it requires glibc 2.38 and Debian 12 has 2.36.
 */
import { Session } from "node:inspector";

/** A part of a file: the offset of its first character, and the offset after its last one. */
type Range = readonly [start: number, end: number];

/**
 * V8's response, which contains the functions that ran since the last response. The first range of a function is the
 * whole function, and its other ranges are blocks.
 */
interface PreciseCoverage {
  result: { url: string; functions: { ranges: { startOffset: number; endOffset: number; count: number }[] }[] }[];
}

/** Matches the URLs of all code except that of Node and of the fuzzer. */
const isMeasured = (url: string) => url.startsWith("file:") && !/\/scripts\/fuzz\/|\/fast-check\//.test(url);

const v8 = new Session();
let isMeasuring = false;

/**
 * Starts the measurement, which slows down the whole process. Call it before the measured modules are loaded, because
 * V8 counts the blocks only of functions that it compiles later.
 */
export function startCoverage(): void {
  if (isMeasuring) return;
  isMeasuring = true;
  v8.connect();
  v8.post("Profiler.enable");
  v8.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
}

/** Stops the measurement. */
export function stopCoverage(): void {
  if (isMeasuring) v8.disconnect();
  isMeasuring = false;
}

function takeCoverage(): PreciseCoverage["result"] {
  let taken: PreciseCoverage["result"] = [];
  v8.post("Profiler.takePreciseCoverage", (error, answer) => {
    if (error !== null) throw error;
    taken = answer.result;
  });
  return taken;
}

/** The code that ran while documents were parsed. */
export class Coverage {
  /** The blocks that never ran, in each function that ran. */
  readonly #idle = new Map<string, readonly Range[]>();

  constructor() {
    startCoverage();
    takeCoverage();
  }

  /** The number of functions that ran. */
  get functions(): number {
    return this.#idle.size;
  }

  /** The number of blocks that never ran, in functions that ran. */
  get idleBlocks(): number {
    return [...this.#idle.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * Compares the code that ran since the last call of this method with all code that ran before.
   * @param add true to count the new code as known from now on
   * @returns true if some of the code is new
   */
  ranNewCode({ add }: { add: boolean }): boolean {
    let isNew = false;
    for (const { url, functions } of takeCoverage().filter((script) => isMeasured(script.url)))
      for (const { ranges } of functions) {
        const [whole] = ranges;
        if (whole === undefined || whole.count === 0) continue;
        const key = `${url} ${whole.startOffset}-${whole.endOffset}`;
        const before = this.#idle.get(key);
        const idle = ranges.filter(({ count }) => count === 0).map((r): Range => [r.startOffset, r.endOffset]);
        const after = before === undefined ? idle : intersection(before, idle);
        if (before !== undefined && length(after) === length(before)) continue;
        isNew = true;
        if (add) this.#idle.set(key, after);
      }
    return isNew;
  }
}

function intersection(some: readonly Range[], others: readonly Range[]): Range[] {
  const pairs = some.flatMap(([start, end]) =>
    others.map((other): Range => [Math.max(start, other[0]), Math.min(end, other[1])]),
  );
  return pairs.filter(([start, end]) => start < end);
}

function length(ranges: readonly Range[]): number {
  return ranges.reduce((sum, [start, end]) => sum + end - start, 0);
}
