import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT, run } from "./installPackages.ts";

const MANIFESTS = ["package.json", "package-lock.json"];

/**
 * Installs the locked packages of a folder, once and again whenever its lock changes. They are too large for the
 * project's own installation.
 * @param source the folder with package.json and package-lock.json
 * @param name the folder's name below node_modules. No other code of the project finds packages there
 * @param command `install` if the registry lacks optional packages of the lock, which `ci` rejects
 * @param tarballs packed packages of this repository that the lock contains. They need `install`, and may be outdated
 *   later
 * @returns the folder with the installed packages
 */
export async function installLocked(
  source: string,
  name: string,
  command: "ci" | "install" = "ci",
  tarballs: readonly string[] = [],
): Promise<string> {
  const folder = join(ROOT, "node_modules", ".cache", name);
  const lock = await readFile(join(source, "package-lock.json"), "utf8");
  const marker = join(folder, "installed");
  if ((await readFile(marker, "utf8").catch(() => "")) !== lock) {
    await mkdir(folder, { recursive: true });
    for (const manifest of MANIFESTS) await copyFile(join(source, manifest), join(folder, manifest));
    // Install scripts would only copy binaries that the packages already contain.
    const options = ["--ignore-scripts", "--no-save", "--no-audit", "--no-fund"];
    await run("npm", [command, ...options, ...tarballs], { cwd: folder });
    await writeFile(marker, lock);
  }
  return folder;
}
