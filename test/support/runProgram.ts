/**
 * Runs the program `keyroot` many times in one process, one run after another. Each run evaluates `cli.ts` again, with its own
 * arguments, environment, standard input, output and exit code. It ends when a process of its own would: once nothing is left
 * to wait for.
 */
import { Readable, Writable } from "node:stream";

/** What the parent process sends for each run. */
export interface ProgramRun {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  input: string;
}

/** Node's exit code for a program that waits for something that never comes. */
const UNSETTLED = 13;

const CLI = new URL("../../packages/operator/src/cli.ts", import.meta.url);
let runs = 0;
let output: { stdout: Buffer[]; stderr: Buffer[] } | undefined;
let isSettled = false;

process.on("message", (run: ProgramRun) => void runProgram(run));

// Node emits this when nothing is left to wait for.
process.on("beforeExit", () => {
  if (output === undefined) return;
  const [stdout, stderr] = [output.stdout, output.stderr].map((chunks) => Buffer.concat(chunks).toString());
  output = undefined;
  // A command keeps its listeners to the end of its process.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(signal);
  const code = isSettled ? (process.exitCode ?? 0) : UNSETTLED;
  process.send?.({ code, stdout, stderr });
  process.channel?.ref();
});

process.on("disconnect", () => process.exit());

async function runProgram({ args, env, input }: ProgramRun): Promise<void> {
  // The channel to the parent does not keep the run alive.
  process.channel?.unref();
  output = { stdout: [], stderr: [] };
  replaceStream("stdin", Readable.from(input === "" ? [] : [Buffer.from(input)], { objectMode: false }));
  replaceStream("stdout", collectIn(output.stdout));
  replaceStream("stderr", collectIn(output.stderr));
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  process.argv = [process.execPath, CLI.pathname, ...args];
  process.exitCode = undefined;
  isSettled = false;
  await import(`${CLI.href}?run=${++runs}`);
  isSettled = true;
}

function replaceStream(name: "stdin" | "stdout" | "stderr", value: Readable | Writable): void {
  Object.defineProperty(process, name, { value, configurable: true });
}

function collectIn(chunks: Buffer[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
}
