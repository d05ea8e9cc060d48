/**
 * Gives all packages the next version, as the changesets in `.changeset` determine it, and removes the changesets:
 *
 *     npm run release:version
 *
 * After it, rename the section of CHANGELOG.md, commit, and push the tag `v<version>`.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

interface Manifest {
  name: string;
  version: string;
  dependencies: Record<string, string>;
}

const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), "utf8")) as Manifest;
const run = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: ROOT, stdio: "inherit" });

run(process.execPath, join(ROOT, "node_modules/@changesets/cli/bin.js"), "version");

// Changesets does not change the project's own package.json, which depends on the exact version of every package.
const { version } = read("packages/keyroot/package.json");
const root = read("package.json");
root.version = version;
for (const name of Object.keys(root.dependencies)) {
  if (name === "keyroot" || name.startsWith("@keyroot/")) root.dependencies[name] = version;
}
writeFileSync(join(ROOT, "package.json"), `${JSON.stringify(root, null, 2)}\n`);
run("npm", "install", "--package-lock-only", "--ignore-scripts");
process.stdout.write(`${version}\n`);
