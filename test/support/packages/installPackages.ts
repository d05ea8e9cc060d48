import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const run = promisify(execFile);
export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

let folder: string | undefined;
const packing = new Map<string, Promise<string>>();
const installing = new Map<string, Promise<string>>();

/** Returns the folder for this process's tarballs and apps. It is removed when the process ends. */
function processFolder(): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), "keyroot-packages-"));
    process.once("exit", () => {
      rmSync(made, { recursive: true, force: true });
    });
    folder = made;
  }
  return folder;
}

/**
 * Packs a package as `npm run build` does, once in this process.
 * @param name as in `scripts/package/packages.ts`
 * @returns the path of its tarball
 */
export function packPackage(name: string): Promise<string> {
  const packed = packing.get(name) ?? packOnce(name);
  packing.set(name, packed);
  return packed;
}

async function packOnce(name: string): Promise<string> {
  const script = join(ROOT, "scripts/package/packPackages.ts");
  const { stdout } = await run(process.execPath, [script, name, "--out", processFolder()]);
  return stdout.trim();
}

/**
 * Packs packages, and installs them with npm in the folder of an app, whose package.json has `"type": "module"`. Later
 * calls with the same names return the same folder.
 * @returns the app's folder
 */
export function installPackages(...names: string[]): Promise<string> {
  const key = names.join();
  const app = installing.get(key) ?? installOnce(names);
  installing.set(key, app);
  return app;
}

/** Unpacks a packed package, without its dependencies, into the installed packages of a folder. */
export async function unpackPackage(name: string, folder: string): Promise<void> {
  const target = join(folder, "node_modules", name === "keyroot" ? name : `@keyroot/${name}`);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  await run("tar", ["-xzf", await packPackage(name), "-C", target, "--strip-components=1"]);
}

async function installOnce(names: readonly string[]): Promise<string> {
  const tarballs = await Promise.all(names.map(packPackage));
  await mkdir(join(processFolder(), "apps"), { recursive: true });
  const app = await mkdtemp(join(processFolder(), "apps", "app-"));
  await writeFile(join(app, "package.json"), '{ "type": "module", "private": true }');
  await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", ...tarballs], { cwd: app });
  return app;
}
