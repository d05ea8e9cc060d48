import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { isLarge, testAll } from "../testSize.ts";

/** A running Anvil, the tests' second chain. */
export interface Anvil {
  readonly url: string;
  /** Kills Anvil immediately, as a crash would. */
  close(): Promise<void>;
  /** Stops Anvil as Ctrl-C does. With `--state`, Anvil first saves its state. */
  stop(): Promise<void>;
}

const binary = findBinary();

/** Whether Anvil is installed. Its binary is an optional dependency, which npm omits on other platforms. */
export const hasAnvil = binary !== undefined;

/**
 * Describes tests that run on Anvil in `npm run test:all`. On platforms without an Anvil binary, they are skipped, and
 * only Hardhat's chain is used.
 */
export function describeOnAnvil(what: string, body: () => void): void {
  if (testAll || isLarge) (hasAnvil ? describe : describe.skip)(`${what}, on Anvil`, body);
}

/** Starts Anvil on a free port. It ends with this process at the latest. */
export async function startAnvil(...options: string[]): Promise<Anvil> {
  if (binary === undefined) throw new Error("There is no Anvil on this platform.");
  return startChainProcess(binary, ["--port", "0", ...options]);
}

/** Starts a chain that prints `Listening on HOST:PORT`. It ends with this process at the latest. */
export async function startChainProcess(command: string, args: readonly string[]): Promise<Anvil> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const end = async (signal: NodeJS.Signals) => {
    process.off("exit", kill);
    if (child.exitCode === null && child.signalCode === null && child.kill(signal)) await once(child, "exit");
  };
  const close = () => end("SIGKILL");
  try {
    return { url: await urlOf(child), close, stop: () => end("SIGINT") };
  } catch (error) {
    await close();
    throw error;
  }
}

async function urlOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("Anvil's output cannot be read.");
  let address: string | undefined;
  for await (const line of createInterface({ input: stdout })) {
    address = /^Listening on (\S+)$/.exec(line)?.[1];
    if (address !== undefined) break;
  }
  // Unread output would block Anvil.
  stdout.resume();
  if (address === undefined) throw new Error("The chain ended before it listened.");
  return `http://${address}`;
}

function findBinary(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve("@foundry-rs/anvil-linux-amd64/bin/anvil");
  } catch {
    return undefined;
  }
}
