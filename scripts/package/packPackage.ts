import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { billOfMaterials } from "./billOfMaterials.ts";
import { type PackageDescription, PACKAGES } from "./packages.ts";
import { stagePackage } from "./stagePackage.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Writes the contents of a package's tarball to `out/<name>`, the tarball to `out`, and the bill of materials to
 * `out/<name>.cdx.json`.
 * @param name a key of the table in `packages.ts`
 * @returns the path of the tarball
 * @throws Error that lists publint's findings
 */
export async function packPackage(name: string, out: string): Promise<string> {
  const description = PACKAGES[name];
  if (description === undefined) {
    throw new Error(`There is no package "${name}". Choose from: ${Object.keys(PACKAGES).join(", ")}.`);
  }
  const staged = join(out, name);
  await stagePackage(ROOT, description, staged);
  await lint(staged, description);
  writeFileSync(
    join(out, `${name}.cdx.json`),
    `${JSON.stringify(billOfMaterials(ROOT, description.folder), null, 2)}\n`,
  );
  return join(out, pack(staged, out));
}

/**
 * Checks the manifest and its files.
 * @throws Error that lists the problems
 */
async function lint(folder: string, { acceptedMessages = [] }: PackageDescription): Promise<void> {
  const { messages, pkg } = await publint({ pkgDir: folder, pack: false, strict: true });
  const found = messages.filter(({ code }) => !acceptedMessages.includes(code));
  if (found.length === 0) return;
  throw new Error(found.map((message) => `${folder}: ${formatMessage(message, pkg) ?? message.code}`).join("\n"));
}

function pack(folder: string, destination: string): string {
  const args = ["pack", "--json", "--silent", "--ignore-scripts", "--pack-destination", destination];
  const output = execFileSync("npm", args, { cwd: folder, encoding: "utf8", shell: process.platform === "win32" });
  const [{ filename }] = JSON.parse(output) as [{ filename: string }];
  return filename;
}
