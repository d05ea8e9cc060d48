import { type Profiler, Session } from "node:inspector";

/** Number of calls of expensive functions. */
export interface Work {
  /** Blocks of 64 bytes that SHA-256 processed. */
  hashes: number;
  /** Multiplications in the fields of BLS12-381. */
  multiplications: number;
  /** Checks of recovery keys' signatures. */
  signatures: number;
}

/** The functions that are counted, by the ends of their files. */
const COUNTED: readonly [file: string, name: string, unit: keyof Work][] = [
  ["/@noble/hashes/sha2.js", "process", "hashes"],
  ["/@noble/curves/abstract/modular.js", "mul", "multiplications"],
  ["/@noble/curves/abstract/modular.js", "sqr", "multiplications"],
  ["/account/recoveryKey.ts", "verifySignature", "signatures"],
];

/** Counts calls with V8's coverage, so that the result is the same on each machine. `dispose` stops the counter. */
export class WorkCounter implements Disposable {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  }

  /** Runs code, which may throw, and returns its work. */
  count(run: () => void): Work {
    this.#take();
    run();
    return this.#take();
  }

  [Symbol.dispose](): void {
    this.#session.post("Profiler.stopPreciseCoverage");
    this.#session.disconnect();
  }

  /** Returns the calls since the previous call of this method. */
  #take(): Work {
    const work: Work = { hashes: 0, multiplications: 0, signatures: 0 };
    let taken: Profiler.TakePreciseCoverageReturnType | undefined;
    this.#session.post("Profiler.takePreciseCoverage", (_, coverage) => {
      taken = coverage;
    });
    for (const [file, name, unit] of COUNTED) {
      const scripts = taken?.result.filter(({ url }) => url.endsWith(file)) ?? [];
      for (const { functions } of scripts)
        for (const { functionName, ranges } of functions)
          if (functionName === name) work[unit] += ranges[0]?.count ?? 0;
    }
    return work;
  }
}
