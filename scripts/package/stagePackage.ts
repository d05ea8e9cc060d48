import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { absoluteLinks } from "./absoluteLinks.ts";
import { buildModules } from "./buildModules.ts";
import { entriesOf, type Manifest, packedManifest } from "./manifest.ts";
import type { PackageDescription } from "./packages.ts";
import { thirdPartyNotices } from "./thirdPartyNotices.ts";

/**
 * Writes all files of a package's tarball to `staged`, and nothing else.
 * @param root the folder of the project
 */
export async function stagePackage(root: string, description: PackageDescription, staged: string): Promise<void> {
  const { build } = description;
  const folder = join(root, description.folder);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(staged, { recursive: true });

  const files = {
    LICENSE: "LICENSE",
    ...(build === undefined ? plainFiles(root, description.folder) : {}),
    ...description.files,
  };
  for (const [to, from] of Object.entries(files)) {
    const target = join(staged, to);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(root, from), target, { recursive: true });
    if (!to.endsWith(".md")) continue;
    writeFileSync(target, absoluteLinks(readFileSync(target, "utf8"), from, manifest.repository.url));
  }
  if (build !== undefined) {
    const bundled = await buildModules(root, folder, join(staged, "dist"), entriesOf(manifest, folder), build);
    if (bundled.size > 0) writeFileSync(join(staged, "THIRD-PARTY.md"), thirdPartyNotices(folder, bundled));
  }
  const packed = packedManifest(manifest, readdirSync(staged));
  writeFileSync(join(staged, "package.json"), `${JSON.stringify(packed, null, 2)}\n`);
}

/**
 * Returns the files of a package that has no build: the files that the manifest names in `files`. The keys are paths in
 * the tarball, and the values are paths in the project.
 */
function plainFiles(root: string, folder: string): Record<string, string> {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const output = execFileSync("npm", args, {
    cwd: join(root, folder),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = JSON.parse(output) as [{ files: { path: string }[] }];
  return Object.fromEntries(files.map(({ path }) => [path, posix.join(folder, path)]));
}
