import { execFile } from "node:child_process";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./installPackages.ts";

const run = promisify(execFile);
const MANIFESTS = ["package.json", "package-lock.json"];

/**
 * Installs the locked packages of a folder once; they are installed again when the lock changes.
 * @param command `install` if the registry lacks optional packages of the lock, which `ci` refuses
 * @returns the folder with `node_modules`, below the project's one, so that nothing else of the project sees it
 */
export async function installLocked(source: string, name: string, command: "ci" | "install" = "ci"): Promise<string> {
  const folder = join(ROOT, "node_modules", ".cache", name);
  const lock = await readFile(join(source, "package-lock.json"), "utf8");
  const marker = join(folder, "installed");
  if ((await readFile(marker, "utf8").catch(() => "")) !== lock) {
    await mkdir(folder, { recursive: true });
    for (const manifest of MANIFESTS) await copyFile(join(source, manifest), join(folder, manifest));
    // Install scripts would only copy binaries that the packages already contain.
    await run("npm", [command, "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder });
    await writeFile(marker, lock);
  }
  return folder;
}
