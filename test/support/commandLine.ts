import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { devNull } from "node:os";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const HARDHAT = fileURLToPath(import.meta.resolve("hardhat/package.json"));
export const COMMAND = [process.execPath, join(dirname(HARDHAT), "dist/src/cli.js"), "keyroot"] as const;

/** What a command line did. */
export interface Ran {
  /** The exit code; null where a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  /** What is written to its standard input. */
  input?: string;
  env?: NodeJS.ProcessEnv;
}

export type Running = ChildProcessByStdio<Writable, Readable, Readable>;

/** Runs `npx hardhat keyroot …` to its end. It finds no running stack unless `env` says where. */
export async function keyroot(args: readonly string[], { input = "", env = {} }: RunOptions = {}): Promise<Ran> {
  const child = startKeyroot(args, env);
  child.stdin.end(input);
  return outcomeOf(child);
}

/** Starts `npx hardhat keyroot …`, as the leader of a process group of its own, as a shell does. */
export function startKeyroot(args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  const [node, ...cli] = COMMAND;
  return spawn(node, [...cli, ...args], { stdio: "pipe", detached: true, env: environment(env) });
}

/** The environment of a command as people have it: not the test runner's, not CI's, and with no stack but `env`'s. */
export function environment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const unset = { CI: undefined, GITHUB_ACTIONS: undefined, NODE_OPTIONS: undefined };
  return { ...process.env, ...unset, KEYROOT_STACK_FILE: devNull, ...env };
}

/** Waits for the end of a command. What it prints elsewhere than to a pipe is not known here. */
export async function outcomeOf(child: ChildProcess): Promise<Ran> {
  child.stdin?.on("error", () => undefined);
  const closed = once(child, "close") as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([textOf(child.stdout), textOf(child.stderr), closed]);
  return { code, stdout, stderr };
}

async function textOf(stream: Readable | null): Promise<string> {
  return stream === null ? "" : text(stream);
}

/** Runs a command with `--json` and returns its exit code and the one object that it printed. */
export async function keyrootJson(args: readonly string[], options?: RunOptions) {
  const { code, stdout } = await keyroot([...args, "--json"], options);
  const lines = stdout.split("\n");
  if (lines.length !== 2 || lines[1] !== "") throw new Error(`not one line: ${stdout}`);
  return { code, json: JSON.parse(lines[0] ?? "") as Record<string, unknown> & { error?: Record<string, unknown> } };
}

/** Runs a command that prints one JSON object a line: what happens, and last the report. */
export async function keyrootJsonLines(args: readonly string[], options?: RunOptions) {
  const { code, stdout } = await keyroot([...args, "--json"], options);
  if (!stdout.endsWith("\n")) throw new Error(`no whole line: ${stdout}`);
  const lines = stdout.slice(0, -1).split("\n");
  const objects = lines.map(
    (line) => JSON.parse(line) as Record<string, unknown> & { error?: Record<string, unknown> },
  );
  return { code, events: objects.slice(0, -1), json: objects.at(-1) ?? {} };
}

/** Waits until no process of the command's group is left. */
export async function untilGroupIsGone(child: Running): Promise<void> {
  while (signalGroup(child, 0)) await sleep(20);
}

/** Sends a signal to a command and all its children, as Ctrl-C does. Tells whether there was anybody. */
export function signalGroup({ pid = NaN }: Running, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** The folders in which stacks keep their files, where TMPDIR is this folder; the runtime has its cache beside them. */
export async function stackFoldersIn(dir: string): Promise<string[]> {
  return (await readdir(dir)).filter((name) => name.startsWith("keyroot-"));
}
