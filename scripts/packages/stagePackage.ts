import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { absoluteLinks } from "./absoluteLinks.ts";
import { buildModules } from "./buildModules.ts";
import { entriesOf, type Manifest, packedManifest } from "./manifest.ts";
import type { PackageDescription } from "./packages.ts";
import { thirdPartyNotices } from "./thirdPartyNotices.ts";

/**
 * Writes into `staged` all files that a package's tarball contains, and nothing else.
 * @param root folder of the project
 */
export async function stagePackage(root: string, description: PackageDescription, staged: string): Promise<void> {
  const { build, files } = description;
  const folder = join(root, description.folder);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(staged, { recursive: true });

  for (const [to, from] of Object.entries({ LICENSE: "LICENSE", ...files })) {
    mkdirSync(dirname(join(staged, to)), { recursive: true });
    cpSync(join(root, from), join(staged, to), { recursive: true });
  }
  for (const [to, from] of Object.entries(files)) {
    if (!to.endsWith(".md")) continue;
    const page = readFileSync(join(staged, to), "utf8");
    writeFileSync(join(staged, to), absoluteLinks(page, from, manifest.repository.url));
  }

  if (build !== undefined) {
    const entries = Object.entries({ ...entriesOf(manifest), ...build.entries });
    const absolute = Object.fromEntries(entries.map(([name, path]) => [name, join(folder, path)]));
    const bundled = await buildModules(root, folder, join(staged, "dist"), absolute, build);
    if (bundled.size > 0) writeFileSync(join(staged, "THIRD-PARTY.md"), thirdPartyNotices(folder, bundled));
  }

  const packed = packedManifest(manifest, readdirSync(staged));
  writeFileSync(join(staged, "package.json"), `${JSON.stringify(packed, null, 2)}\n`);
}
