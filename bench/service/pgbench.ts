import { execFile, execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** How long pgbench may take to connect, in seconds: it counts that as part of its time, though not of its rate. */
const CONNECTING = 3;

/** What one client of pgbench does over and over, and with how many of them. */
export interface PgbenchOptions {
  url: string;
  /** Lines of pgbench's own language. */
  script: string;
  clients: number;
  seconds: number;
}

/** Transactions a second, over connections that are already there, each statement prepared once. */
export async function pgbench({ url, script, clients, seconds }: PgbenchOptions): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "keyroot-pgbench-"));
  try {
    const file = join(folder, "script.sql");
    await writeFile(file, script);
    const options = ["-n", "-M", "prepared", "-f", file, "-c", String(clients), "-T", String(seconds + CONNECTING)];
    const { hostname, port, username, password, pathname } = new URL(url);
    const where = ["-h", hostname, "-p", port, "-U", username, pathname.slice(1)];
    const { stdout } = await run(findPgbench(), [...options, ...where], {
      env: { ...process.env, PGPASSWORD: password },
    });
    const failed = /number of failed transactions: (\d+)/.exec(stdout)?.[1];
    const perSecond = /tps = ([\d.]+) \(without initial connection time\)/.exec(stdout)?.[1];
    if (failed !== "0" || perSecond === undefined) throw new Error(`pgbench did not do it all:\n${stdout}`);
    return Math.round(Number(perSecond));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** `pgbench (PostgreSQL) 15.4` or the like. */
export function pgbenchVersion(): string {
  return execFileSync(findPgbench(), ["--version"], { encoding: "utf8" }).trim();
}

function findPgbench(): string {
  const [found] = globSync("/usr/lib/postgresql/*/bin/pgbench").sort().reverse();
  if (found === undefined) throw new Error("There is no pgbench: apt-get install --no-install-recommends postgresql");
  return found;
}
