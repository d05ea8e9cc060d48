/**
 * Runs a program many times in one process, one run after another. Each run evaluates the program's file again, with its own
 * arguments, environment, standard input, output and exit code. A run ends when nothing is left to wait for,
 * as a separate process would.
 */
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import "../shortRetries.ts";

/** The parent process's message for each run. */
export interface ProgramRun {
  /** The program's file and its arguments. */
  words: readonly string[];
  env: NodeJS.ProcessEnv;
  input: string;
}

/** The result of a run. */
export interface Ran {
  /** The exit code. Null if a signal ended the run. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Node's exit code for a program with an unsettled top-level await. */
const UNSETTLED = 13;

/** Events for which programs may leave listeners behind. */
const EVENTS = ["SIGINT", "SIGTERM", "SIGHUP", "uncaughtException", "unhandledRejection"];

let runs = 0;
let isRunning = false;
let isSettled = false;
let stdout = "";
let stderr = "";
replaceStream(
  "stdout",
  collect((text) => (stdout += text)),
);
replaceStream(
  "stderr",
  collect((text) => (stderr += text)),
);

process.on("message", (run: ProgramRun) => void runProgram(run));

// Node emits this when nothing is left to wait for.
process.on("beforeExit", () => {
  if (!isRunning) return;
  isRunning = false;
  for (const event of EVENTS) process.removeAllListeners(event);
  process.send?.({ code: isSettled ? (process.exitCode ?? 0) : UNSETTLED, stdout, stderr });
  process.channel?.ref();
});

process.on("disconnect", () => process.exit());

async function runProgram({ words: [file = "", ...args], env, input }: ProgramRun): Promise<void> {
  // The channel to the parent does not keep the run alive.
  process.channel?.unref();
  isRunning = true;
  isSettled = false;
  stdout = stderr = "";
  replaceStream("stdin", Readable.from(input === "" ? [] : [Buffer.from(input)], { objectMode: false }));
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  process.argv = [process.execPath, file, ...args];
  process.exitCode = undefined;
  runs++;
  await import(`${pathToFileURL(file).href}?run=${runs}`);
  isSettled = true;
}

function replaceStream(name: "stdin" | "stdout" | "stderr", value: Readable | Writable): void {
  Object.defineProperty(process, name, { value, configurable: true });
}

function collect(take: (text: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      take(String(chunk));
      done();
    },
  });
}
