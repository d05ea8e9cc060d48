import { type ChildProcess, type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { devNull } from "node:os";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { testAll } from "../testSize.ts";
import type { Ran } from "./runMany.ts";
import { SharedProcess } from "./sharedProcess.ts";

export interface RunOptions {
  /** Text for the command's standard input. */
  input?: string;
  env?: NodeJS.ProcessEnv;
}

export type Running = ChildProcessByStdio<Writable, Readable, Readable>;

type Json = Record<string, unknown> & { error?: Record<string, unknown> };

/** The exit code and the JSON object of a command. `error` is the error's code if it failed. */
export interface JsonOutcome {
  code: number | null;
  json: Json;
  error: unknown;
  message: unknown;
}

/** A host of the commands: the program `keyroot`, or Hardhat. */
export class CommandLine {
  /** The name of the host in messages. */
  readonly program: string;
  /** The words before a command's name. */
  readonly words: readonly [string, ...string[]];
  readonly #nodeOptions: readonly string[];

  constructor(program: string, words: readonly [string, ...string[]], nodeOptions: readonly string[] = []) {
    this.program = program;
    this.words = words;
    this.#nodeOptions = nodeOptions;
  }

  /** Runs a command to its end. It finds no running stack unless `env` names its file. */
  run(args: readonly string[], { input = "", env = {} }: RunOptions = {}): Promise<Ran> {
    const child = this.start(args, env);
    child.stdin.end(input);
    return outcomeOf(child);
  }

  /** Starts a command as the leader of a separate process group, as a shell does. */
  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
    const [program, ...words] = this.words;
    return spawn(program, [...this.#nodeOptions, ...words, ...args], {
      stdio: "pipe",
      detached: true,
      env: environment(env),
    });
  }

  /** Runs a command with `--json` that prints one object. */
  async json(args: readonly string[], options?: RunOptions): Promise<JsonOutcome> {
    const { code, stdout } = await this.run([...args, "--json"], options);
    const lines = stdout.split("\n");
    if (lines.length !== 2 || lines[1] !== "") throw new Error(`not one line: ${stdout}`);
    return outcomeWith(code, JSON.parse(lines[0] ?? "") as Json);
  }

  /** Runs a command that prints one JSON object per line: events, then the result. */
  async jsonLines(args: readonly string[], options?: RunOptions): Promise<JsonOutcome & { events: Json[] }> {
    const { code, stdout } = await this.run([...args, "--json"], options);
    if (!stdout.endsWith("\n")) throw new Error(`no whole line: ${stdout}`);
    const lines = stdout.slice(0, -1).split("\n");
    const objects = lines.map((line) => JSON.parse(line) as Json);
    return { ...outcomeWith(code, objects.at(-1) ?? {}), events: objects.slice(0, -1) };
  }
}

function outcomeWith(code: number | null, json: Json): JsonOutcome {
  return { code, json, error: json.error?.["code"], message: json.error?.["message"] };
}

/**
 * A host that runs each command in a separate process the first time, as `start` always does. All other runs share one
 * process, which saves most of their time.
 */
class SharingCommandLine extends CommandLine {
  readonly #seen = new Set<string>();
  readonly #shared = new SharedProcess();

  override async run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const { input = "", env = {} } = options;
    const [command = ""] = args;
    const isFirst = !this.#seen.has(command);
    this.#seen.add(command);
    // Node reads NODE_OPTIONS only when a process starts.
    if (isFirst || env["NODE_OPTIONS"] !== undefined) return super.run(args, options);
    const [, ...words] = this.words;
    const ran = await this.#shared.run({ words: [...words, ...args], env: environment(env), input });
    // Hardhat has not started the command. The plugin corrects the exit code at the end of the process.
    return ran.stderr.startsWith("Error HHE") ? super.run(args, options) : ran;
  }
}

const CLI = fileURLToPath(new URL("../../../packages/operator/src/cli.ts", import.meta.url));
const HARDHAT = fileURLToPath(new URL("hardhat.ts", import.meta.url));

const SHORT_RETRIES = ["--import", new URL("../shortRetries.ts", import.meta.url).href];

/** The program `keyroot`, which starts several times faster than Hardhat. */
export const program: CommandLine = new SharingCommandLine("npx keyroot", [process.execPath, CLI], SHORT_RETRIES);
/** `npx hardhat keyroot`, started faster than by Hardhat's own program. Tests of whole programs use `npxHardhat`. */
export const hardhat: CommandLine = new SharingCommandLine(
  "npx hardhat keyroot",
  [process.execPath, HARDHAT, "keyroot"],
  SHORT_RETRIES,
);
/** `npx hardhat keyroot` with Hardhat's own program. */
export const npxHardhat = new CommandLine("npx hardhat keyroot", [
  process.execPath,
  fileURLToPath(new URL("dist/src/cli.js", import.meta.resolve("hardhat/package.json"))),
  "keyroot",
]);

/**
 * Describes behavior of both hosts. `npm test` runs only the program, and `npm run test:all` runs both. They differ
 * only in parsing, output and exit codes, so this function is used only by tests that cover each command once.
 */
export function describeOnHosts(what: string, body: (keyroot: CommandLine) => void): void {
  for (const keyroot of testAll ? [program, hardhat] : [program]) describeOnHost(what, keyroot, body);
}

/** Describes behavior that does not depend on the host. */
export function describeWithProgram(what: string, body: (keyroot: CommandLine) => void): void {
  describeOnHost(what, program, body);
}

function describeOnHost(what: string, keyroot: CommandLine, body: (keyroot: CommandLine) => void): void {
  describe(`${what}, with ${keyroot.program}`, () => {
    body(keyroot);
  });
}

/** Variables that CI, terminals, or Hardhat set. Hardhat runs the tests and sets its variables for child processes. */
const UNSET = /^(?:CI|GITHUB_ACTIONS|NODE_OPTIONS|FORCE_COLOR|NO_COLOR|HARDHAT_.*)$/;

/** Returns the environment of a command in a person's shell, without a running stack. */
export function environment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !UNSET.test(name));
  return { ...Object.fromEntries(inherited), KEYROOT_STACK_FILE: devNull, ...env };
}

/** Returns the words of options: `{ rpc: url }` becomes `--rpc url`. */
export function optionsOf(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
}

/** The program of util-linux that gives a command a terminal. Other systems have none, or one with different options. */
export const hasTerminals = process.platform === "linux" && spawnSync("script", ["--version"]).status === 0;

/** Starts a shell command with a terminal as its output. */
export function startInTerminal(command: string, env: NodeJS.ProcessEnv = {}) {
  const args = ["--quiet", "--return", "--flush", "--command", command, "/dev/null"];
  return spawn("script", args, { stdio: ["pipe", "pipe", "inherit"], env: environment({ TERM: "xterm", ...env }) });
}

/** Waits for the end of a command, and returns the output that it prints to pipes. */
export async function outcomeOf(child: ChildProcess): Promise<Ran> {
  child.stdin?.on("error", () => undefined);
  const closed = once(child, "close") as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([textOf(child.stdout), textOf(child.stderr), closed]);
  return { code, stdout, stderr };
}

async function textOf(stream: Readable | null): Promise<string> {
  return stream === null ? "" : text(stream);
}

/** Waits until no process of the command's group is left. */
export async function untilGroupIsGone(child: Running): Promise<void> {
  while (signalGroup(child, 0)) await sleep(20);
}

/** Sends SIGINT to a process until it ends. Signals within two seconds after the first one have no effect. */
export async function interruptUntilEnd(child: ChildProcess): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGINT");
    await sleep(500);
  }
}

/** Sends a signal to a command and all its children, as Ctrl-C does. Returns whether there was a process. */
export function signalGroup({ pid = NaN }: Running, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** The folders of stacks in a folder that TMPDIR names. Node keeps its compile cache there, too. */
export async function stackFoldersIn(dir: string): Promise<string[]> {
  return (await readdir(dir)).filter((name) => name.startsWith("keyroot-"));
}
