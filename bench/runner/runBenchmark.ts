import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { machine, SAMPLE_MS, withLoad } from "./load.ts";
import type { Benchmark } from "./registry.ts";
import type { Measured } from "./report.ts";
import { type Result, today } from "./results.ts";

/** Runs a benchmark in a separate process. @throws Error if the benchmark fails */
export async function runBenchmark({ name, script = name }: Benchmark, { small }: { small: boolean }): Promise<Result> {
  const start = performance.now();
  const { result, load } = await withLoad(() => runScript(script, small), small ? 0 : SAMPLE_MS);
  return {
    benchmark: name,
    command: `npm run bench -- ${name}${small ? " --small" : ""}`,
    date: today(),
    machine: machine(),
    load,
    seconds: Math.round((performance.now() - start) / 1000),
    ...result,
  };
}

async function runScript(name: string, small: boolean): Promise<Measured> {
  const script = fileURLToPath(new URL(`../${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [script, ...(small ? ["--small"] : [])], { stdio: ["ignore", "pipe", "pipe"] });
  // Hide the progress in tests. Tests print the progress only after an error.
  if (!small) child.stderr.pipe(process.stderr);
  const closed = once(child, "close");
  const [output, messages] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await closed) as [number | null];
  if (code === 0) return JSON.parse(output) as Measured;
  throw new Error(`bench/${name}.ts ended with exit code ${String(code)}.${small ? `\n${messages}` : ""}`);
}
