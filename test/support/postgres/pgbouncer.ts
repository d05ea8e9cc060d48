import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { debianProgram } from "../processes/debianProgram.ts";
import { freePort } from "../servers/ports.ts";
import { chownToServerUser, serverUser } from "./binaries.ts";

/** A PgBouncer that belongs to this process. */
export interface PgBouncer {
  /** The URL of the database through the pooler, without a password. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts Debian's PgBouncer in front of a database.
 * @param url the URL of the database, with user and password
 * @param settings further settings of the section `pgbouncer`
 */
export async function startPgBouncer(url: string, settings: Record<string, string | number> = {}): Promise<PgBouncer> {
  const program = debianProgram("pgbouncer", "pgbouncer");
  const { hostname, port, username, password, pathname } = new URL(url);
  const database = pathname.slice(1);
  const folder = mkdtempSync(join(tmpdir(), "keyroot-pgbouncer-"));
  const ownPort = await freePort();
  const config = join(folder, "pgbouncer.ini");
  const lines = Object.entries({
    ...{ listen_addr: "127.0.0.1", listen_port: ownPort, unix_socket_dir: "", auth_type: "any", ...settings },
  }).map(([name, value]) => `${name} = ${value}`);
  const target = `${database} = host=${hostname} port=${port} dbname=${database} user=${username} password=${password}`;
  writeFileSync(config, ["[databases]", target, "[pgbouncer]", ...lines, ""].join("\n"));
  chmodSync(folder, 0o700);
  chownToServerUser(folder);
  // PgBouncer does not run as root.
  const server = spawn(program, ["-q", config], { ...serverUser, stdio: "ignore" });
  const exited = once(server, "exit");
  const close = async () => {
    server.kill("SIGQUIT");
    await exited;
    rmSync(folder, { recursive: true });
  };
  while (!(await accepts(ownPort))) {
    if (server.exitCode !== null) throw new Error(`PgBouncer ended with ${server.exitCode}.`);
    await sleep(20);
  }
  return { url: `postgres://${username}@127.0.0.1:${ownPort}/${database}`, close };
}

function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = createConnection(port, "127.0.0.1", () => {
    resolve(true);
    socket.destroy();
  }).on("error", () => {
    resolve(false);
  });
  return promise;
}
