/**
 * Builds the packages as people install them. For each package, `build/<name>` gets the files of its tarball, and
 * `build/<name>-<version>.tgz` is that tarball. `npm publish build/<name>` would publish it.
 *
 *     node scripts/packPackages.ts                      all packages
 *     node scripts/packPackages.ts keyroot --out DIR    this one, into DIR
 *
 * Prints the path of each tarball, once publint finds nothing to say about it. `scripts/packages/packages.ts` describes
 * what each contains.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildSite } from "@keyroot/web/build";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { type PackageDescription, PACKAGES } from "./packages/packages.ts";
import { stagePackage } from "./packages/stagePackage.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: "string", default: join(ROOT, "build") } },
});
const out = resolve(values.out);
const unknown = positionals.find((name) => !Object.hasOwn(PACKAGES, name));
if (unknown !== undefined) {
  throw new Error(`There is no package "${unknown}". Choose from: ${Object.keys(PACKAGES).join(", ")}.`);
}

mkdirSync(out, { recursive: true });
await buildSite();
for (const [name, description] of Object.entries(PACKAGES)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const staged = join(out, name);
  await stagePackage(ROOT, description, staged);
  await lint(staged, description);
  process.stdout.write(`${join(out, pack(staged, out))}\n`);
}

/** @throws Error that lists what is wrong with the manifest, or with the files that it names */
async function lint(folder: string, { acceptedMessages = [] }: PackageDescription): Promise<void> {
  const { messages, pkg } = await publint({ pkgDir: folder, pack: false, strict: true });
  const found = messages.filter(({ code }) => !acceptedMessages.includes(code));
  if (found.length === 0) return;
  throw new Error(found.map((message) => `${folder}: ${formatMessage(message, pkg) ?? message.code}`).join("\n"));
}

/** Packs a folder and returns the tarball's name. */
function pack(folder: string, destination: string): string {
  const args = ["pack", "--json", "--silent", "--ignore-scripts", "--pack-destination", destination];
  const output = execFileSync("npm", args, { cwd: folder, encoding: "utf8", shell: process.platform === "win32" });
  const [{ filename }] = JSON.parse(output) as [{ filename: string }];
  return filename;
}
