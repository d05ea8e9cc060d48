import { Client, escapeIdentifier } from "pg";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../stack/support.ts";
import { findBinaries, giveAway, identity } from "./binaries.ts";
import { childrenOf, runningOf } from "./processes.ts";

const KEEPER = fileURLToPath(new URL("keeper.ts", import.meta.url));
/** How long a server may take until it is ready, recovery included, in ms. */
const PATIENCE = 30_000;

/** A place for databases. */
export interface Databases {
  /** Address of an administrator's database, `postgres://user:password@host:port/name`. */
  readonly url: string;
  /** Makes an empty database with a name of its own and returns its address. */
  createDatabase(): Promise<string>;
  /** Ends all of it: a server of our own with its data, or else the databases that were made. */
  stop(): Promise<void>;
}

/** A PostgreSQL of this process's own, on a port of 127.0.0.1 that stays the same until it is stopped. */
export interface Postgres extends Databases {
  /** `PostgreSQL 18.4` or the like. */
  readonly version: string;
  /** The folder that holds all that is its own, data and log. */
  readonly folder: string;
  /** The ids of its processes, the server's own first; none after `kill`. */
  pids(): number[];
  /** Kills every one of its processes at once by SIGKILL: what was not on its way to the disk is lost. */
  kill(): Promise<void>;
  /** Starts it again over the same data, at the same address: after a kill, or by an orderly stop. */
  restart(): Promise<void>;
}

/** How to run a server. */
export interface PostgresOptions {
  /** Whether a commit waits until the disk has it. Without, the data outlive a kill but not a loss of power. */
  fsync?: boolean;
  /** Folders to look for `initdb` and `postgres` in; without, npm's, then the system's. */
  binaries?: string[];
  /** Further settings, by their names in `postgresql.conf`. */
  settings?: Record<string, string | number>;
}

/**
 * Starts a PostgreSQL with fresh data, by password only. It is ready within 3 s, and ends with this process at the latest,
 * even when this process is killed.
 *
 * @throws Error when there is none on this machine, or it does not start; the message has the end of its log.
 */
export async function startPostgres({ fsync = false, binaries, settings }: PostgresOptions = {}): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), "keyroot-postgres-"));
  const [data, log] = [join(folder, "data"), join(folder, "log")];
  const pidFile = join(data, "postmaster.pid");
  const keeper = spawnKeeper(folder, pidFile);
  const password = randomBytes(24).toString("base64url");
  const port = await freePort();
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;

  const start = async () => {
    const options = {
      port,
      fsync: fsync ? "on" : "off",
      // All in the folder: no socket beside it, and no shared memory that a killed server leaves in /dev/shm.
      unix_socket_directories: "",
      dynamic_shared_memory_type: "mmap",
      max_connections: 200,
      ...settings,
    };
    const output = openSync(log, "a");
    // A process group of its own: Ctrl-C is not for it.
    server = spawn(
      join(bin, "postgres"),
      ["-D", data, ...Object.entries(options).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      { ...identity, cwd: folder, stdio: ["ignore", output, output], detached: true, windowsHide: true },
    );
    closeSync(output);
    server.unref();
    await untilReady(server, pidFile, log);
  };
  const end = async (signal: NodeJS.Signals) => {
    const child = server;
    server = undefined;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.ref();
    child.kill(signal);
    await exited;
  };
  const stop = async () => {
    // Only a server that starts again frees the shared memory of one that was killed.
    if (server === undefined && keeper.exitCode === null) await start();
    await Promise.all([end("SIGQUIT"), endKeeper(keeper)]);
  };

  let bin: string;
  try {
    chmodSync(folder, 0o711);
    bin = findBinaries(folder, binaries);
    initialize(bin, folder, password);
    await start();
  } catch (error) {
    await Promise.all([end("SIGQUIT"), endKeeper(keeper)]);
    throw error;
  }
  return {
    url,
    folder,
    version: execFileSync(join(bin, "postgres"), ["--version"], { ...identity, encoding: "utf8" })
      .trim()
      .replace("postgres (PostgreSQL)", "PostgreSQL"),
    createDatabase: () => createDatabase(url),
    pids: () => (server?.pid === undefined ? [] : [server.pid, ...childrenOf(server.pid)]),
    async kill() {
      const pid = server?.pid;
      if (pid === undefined) return;
      // Stopped first, so that it starts no new ones while the others are counted and die.
      process.kill(pid, "SIGSTOP");
      const children = childrenOf(pid);
      for (const child of children) kill(child);
      await end("SIGKILL");
      while (runningOf(children).length > 0) await setTimeout(5);
    },
    async restart() {
      await end("SIGINT");
      await start();
    },
    stop,
  };
}

/** Makes an empty database beside the one at `url` and returns its address. */
export async function createDatabase(url: string): Promise<string> {
  const name = `keyroot_${randomBytes(8).toString("hex")}`;
  await runAt(url, `CREATE DATABASE ${escapeIdentifier(name)}`);
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

/** Runs one statement at the database of that address, over a connection of its own. */
export async function runAt(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function initialize(bin: string, folder: string, password: string): void {
  const [data, passwordFile] = [join(folder, "data"), join(folder, "password")];
  mkdirSync(data, 0o700);
  writeFileSync(passwordFile, password, { mode: 0o600 });
  giveAway(data);
  giveAway(passwordFile);
  const options = ["--username=postgres", "--auth=scram-sha-256", `--pwfile=${passwordFile}`];
  const plain = ["--locale=C", "--encoding=UTF8", "--no-sync", "--no-instructions"];
  execFileSync(join(bin, "initdb"), ["-D", data, ...options, ...plain], { ...identity, cwd: folder, stdio: "pipe" });
  rmSync(passwordFile);
}

/** Waits until the server of this very process says in its pid file that it takes connections. */
async function untilReady(server: ChildProcess, pidFile: string, log: string): Promise<void> {
  const started = Date.now();
  const isReady = () => {
    try {
      // The lines of the file: PostgreSQL's source, src/include/utils/pidfile.h.
      const lines = readFileSync(pidFile, "utf8").split("\n");
      return Number(lines[0]) === server.pid && lines[7]?.trim() === "ready";
    } catch {
      return false;
    }
  };
  while (!isReady()) {
    const failed = server.pid === undefined || server.exitCode !== null || server.signalCode !== null;
    if (failed || Date.now() - started > PATIENCE) {
      throw new Error(`PostgreSQL did not start. The end of its log:\n${readFileSync(log, "utf8").slice(-2000)}`);
    }
    await setTimeout(10);
  }
}

function spawnKeeper(folder: string, pidFile: string): ChildProcess {
  const keeper = spawn(process.execPath, [KEEPER, folder, pidFile], {
    stdio: ["pipe", "ignore", "inherit"],
    detached: true,
    windowsHide: true,
  });
  keeper.unref();
  // A pipe, which Node's types do not know as the socket that it is.
  (keeper.stdin as (Writable & Pick<Socket, "unref">) | null)?.unref();
  return keeper;
}

async function endKeeper(keeper: ChildProcess): Promise<void> {
  if (keeper.exitCode !== null) return;
  const exited = once(keeper, "exit");
  keeper.ref();
  keeper.stdin?.end();
  await exited;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself meanwhile.
  }
}
