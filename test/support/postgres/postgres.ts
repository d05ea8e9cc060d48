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
import { freePort } from "../servers/ports.ts";
import { chownToServerUser, findBinaries, serverUser } from "./binaries.ts";
import { childrenOf, runningOf } from "./processes.ts";
import { ENDLESS_MS } from "../endless.ts";

const REAPER = fileURLToPath(new URL("reaper.ts", import.meta.url));

/** A server in which databases can be created. */
export interface DatabaseServer {
  /** URL of an administrator's database: `postgres://user:password@host:port/name`. */
  readonly url: string;
  /**
   * Creates a database with a unique name and returns its URL.
   * @param template the URL of the database to copy, which must have no connections. Default: the database is empty
   */
  createDatabase(template?: string): Promise<string>;
  /** Removes a server that this process started, with its data. In another server, removes only the created databases. */
  stop(): Promise<void>;
}

/** A PostgreSQL that belongs to this process. It keeps its port of 127.0.0.1 until it is stopped. */
export interface Postgres extends DatabaseServer {
  /** The version, such as `PostgreSQL 18.4`. */
  readonly version: string;
  /** The folder with the server's data and log. */
  readonly folder: string;
  /** Kills all processes of the server with SIGKILL. Data that was not written to the operating system is lost. */
  kill(): Promise<void>;
  /** Starts the server with the same data at the same URL, after a kill or an orderly stop. */
  restart(): Promise<void>;
}

export interface PostgresOptions {
  /** Whether a commit waits for the disk. Otherwise, data survive a kill, but not a power failure. Default: false. */
  fsync?: boolean;
  /** Further settings, by their names in `postgresql.conf`. */
  settings?: Record<string, string | number>;
}

/**
 * Starts a PostgreSQL with empty data and password authentication. It is ready within 3 s, and ends with this process
 * at the latest, even if this process is killed.
 * @throws Error if this machine has no PostgreSQL, or it does not start. The message contains the end of its log
 */
export async function startPostgres({ fsync = false, settings }: PostgresOptions = {}): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), "keyroot-postgres-"));
  const [data, log] = [join(folder, "data"), join(folder, "log")];
  const pidFile = join(data, "postmaster.pid");
  const reaper = spawnReaper(folder, pidFile);
  const password = randomBytes(24).toString("base64url");
  const port = await freePort();
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;

  const start = async () => {
    const options = {
      port,
      fsync: fsync ? "on" : "off",
      // The server creates no socket outside the folder, and a killed server leaves no shared memory in /dev/shm.
      unix_socket_directories: "",
      dynamic_shared_memory_type: "mmap",
      max_connections: 200,
      // It would visit each of the databases every minute.
      autovacuum: "off",
      ...settings,
    };
    const output = openSync(log, "a");
    // The server runs in a separate process group, so that Ctrl-C does not reach it.
    server = spawn(
      join(bin, "postgres"),
      ["-D", data, ...Object.entries(options).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      { ...serverUser, cwd: folder, stdio: ["ignore", output, output], detached: true, windowsHide: true },
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
    // A killed server leaves shared memory, which only a new start frees.
    if (server === undefined && reaper.exitCode === null) await start();
    await Promise.all([end("SIGQUIT"), endReaper(reaper)]);
  };

  let bin: string;
  try {
    chmodSync(folder, 0o711);
    bin = findBinaries(folder);
    initialize(bin, folder, password);
    await start();
  } catch (error) {
    await Promise.all([end("SIGQUIT"), endReaper(reaper)]);
    throw error;
  }
  return {
    url,
    folder,
    version: execFileSync(join(bin, "postgres"), ["--version"], { ...serverUser, encoding: "utf8" })
      .trim()
      .replace("postgres (PostgreSQL)", "PostgreSQL"),
    createDatabase: (template) => createDatabase(url, template),
    async kill() {
      const pid = server?.pid;
      if (pid === undefined) return;
      // Pause the server first, so that it starts no processes while its children are killed.
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

/**
 * Creates a database in the server of `url` and returns its URL.
 * @param template the URL of the database to copy
 */
export async function createDatabase(url: string, template?: string): Promise<string> {
  const name = `keyroot_${randomBytes(8).toString("hex")}`;
  const copied = template === undefined ? "" : ` TEMPLATE ${escapeIdentifier(new URL(template).pathname.slice(1))}`;
  await runAt(url, `CREATE DATABASE ${escapeIdentifier(name)}${copied}`);
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

/** Runs one statement over a new connection, and returns its rows. */
export async function runAt<Row extends object>(
  url: string,
  statement: string,
  values?: readonly unknown[],
): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // Without values, PostgreSQL accepts several statements.
    return (await client.query<Row>(statement, values && [...values])).rows;
  } finally {
    await client.end();
  }
}

function initialize(bin: string, folder: string, password: string): void {
  const [data, passwordFile] = [join(folder, "data"), join(folder, "password")];
  mkdirSync(data, 0o700);
  writeFileSync(passwordFile, password, { mode: 0o600 });
  chownToServerUser(data);
  chownToServerUser(passwordFile);
  const options = ["--username=postgres", "--auth=scram-sha-256", `--pwfile=${passwordFile}`];
  const plain = ["--locale=C", "--encoding=UTF8", "--no-sync", "--no-instructions"];
  execFileSync(join(bin, "initdb"), ["-D", data, ...options, ...plain], { ...serverUser, cwd: folder, stdio: "pipe" });
  rmSync(passwordFile);
}

/** Waits until the server's pid file has the state "ready" or "standby". */
async function untilReady(server: ChildProcess, pidFile: string, log: string): Promise<void> {
  const started = Date.now();
  const isReady = () => {
    try {
      // Lines of the file: PostgreSQL's source, src/include/utils/pidfile.h.
      const lines = readFileSync(pidFile, "utf8").split("\n");
      return Number(lines[0]) === server.pid && ["ready", "standby"].includes(lines[7]?.trim() ?? "");
    } catch {
      return false;
    }
  };
  while (!isReady()) {
    const failed = server.pid === undefined || server.exitCode !== null || server.signalCode !== null;
    if (failed || Date.now() - started > ENDLESS_MS) {
      throw new Error(`PostgreSQL did not start. The end of its log:\n${readFileSync(log, "utf8").slice(-2000)}`);
    }
    await setTimeout(10);
  }
}

/** Starts a process that stops a server and removes its folder when this process ends or is killed. */
export function spawnReaper(folder: string, pidFile: string): ChildProcess {
  const reaper = spawn(process.execPath, [REAPER, folder, pidFile], {
    stdio: ["pipe", "ignore", "inherit"],
    detached: true,
    windowsHide: true,
  });
  reaper.unref();
  // The pipe is a socket, which Node's types do not declare.
  (reaper.stdin as (Writable & Pick<Socket, "unref">) | null)?.unref();
  return reaper;
}

/** Stops the server and removes its folder now. */
export async function endReaper(reaper: ChildProcess): Promise<void> {
  if (reaper.exitCode !== null) return;
  const exited = once(reaper, "exit");
  reaper.ref();
  reaper.stdin?.end();
  await exited;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}
