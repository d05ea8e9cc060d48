import { execFile, execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * The number of seconds to add to the duration of a run. pgbench connects within this duration, but leaves the time to
 * connect out of the rate, so without the addition it would measure for a shorter time.
 */
const CONNECT_SECONDS = 3;

export interface PgbenchOptions {
  url: string;
  /** The script that every client repeats, in pgbench's language. */
  script: string;
  clients: number;
  seconds: number;
}

/** Measures transactions per second, with established connections and prepared statements. */
export async function pgbench({ url, script, clients, seconds }: PgbenchOptions): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "keyroot-pgbench-"));
  try {
    const file = join(folder, "script.sql");
    await writeFile(file, script);
    const options = [
      "-n",
      "-M",
      "prepared",
      "-f",
      file,
      "-c",
      String(clients),
      "-T",
      String(seconds + CONNECT_SECONDS),
    ];
    const { hostname, port, username, password, pathname } = new URL(url);
    const where = ["-h", hostname, "-p", port, "-U", username, pathname.slice(1)];
    const { stdout } = await run(findPgbench(), [...options, ...where], {
      env: { ...process.env, PGPASSWORD: password },
    });
    const failed = /number of failed transactions: (\d+)/.exec(stdout)?.[1];
    const perSecond = /tps = ([\d.]+) \(without initial connection time\)/.exec(stdout)?.[1];
    if (failed !== "0" || perSecond === undefined) throw new Error(`pgbench failed:\n${stdout}`);
    return Math.round(Number(perSecond));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns a version such as `pgbench (PostgreSQL) 15.4`. */
export function pgbenchVersion(): string {
  return execFileSync(findPgbench(), ["--version"], { encoding: "utf8" }).trim();
}

function findPgbench(): string {
  const [found] = globSync("/usr/lib/postgresql/*/bin/pgbench").sort().reverse();
  if (found === undefined)
    throw new Error("pgbench is not installed. Run: apt-get install --no-install-recommends postgresql");
  return found;
}
