/**
 * Writes all committed files that are generated from the contracts: `npm run generate:contracts`. With `-- --check`, it
 * also updates outdated files, but then fails.
 */
import hre from "hardhat";
import { spawnSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { generateFiles } from "./contractArtifacts.ts";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const { root } = hre.config.paths;
const TYPES = "typechain-types";

/** Reads a text file. Returns undefined if the file does not exist. */
async function read(path: string): Promise<string | undefined> {
  try {
    return await readFile(join(root, path), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function readTypes(): Promise<Map<string, string | undefined>> {
  const names = (await readdir(join(root, TYPES), { recursive: true })).filter((name) => name.endsWith(".ts"));
  const paths = names.map((name) => join(TYPES, name));
  return new Map(await Promise.all(paths.map(async (path) => [path, await read(path)] as const)));
}

const changed: string[] = [];
for (const [path, text] of Object.entries(await generateFiles())) {
  if ((await read(path)) === text) continue;
  await writeFile(join(root, path), text);
  changed.push(path);
}

const before = await readTypes();
const hardhat = join(root, "node_modules/hardhat/dist/src/cli.js");
const build = spawnSync(process.execPath, [hardhat, "build", "--force", "--quiet"], { cwd: root, stdio: "inherit" });
if (build.status !== 0) process.exit(1);
const after = await readTypes();
for (const path of new Set([...before.keys(), ...after.keys()])) {
  if (before.get(path) !== after.get(path)) changed.push(path);
}

if (changed.length > 0) {
  process.stderr.write(`${changed.map((path) => `updated ${path}`).join("\n")}\n`);
  if (values.check) {
    process.stderr.write("These generated files were not current. They are now: commit them.\n");
    process.exitCode = 1;
  }
}
