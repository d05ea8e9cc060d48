/**
 * Builds the web pages into the packages that serve them:
 *
 *     node packages/web/build/buildSite.ts
 *
 * Each file is replaced as a whole, the page comes last, and old files are removed at the end. Therefore the pages stay
 * usable during a build, and two builds of the same sources can run at the same time.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildDashboard } from "./buildDashboard.ts";
import { buildExplorer } from "./buildExplorer.ts";
import { buildReference } from "./buildReference.ts";
import { hashOfSources, SITES } from "./sources.ts";

// Vite reads this variable. The same sources must give the same hashes everywhere, even in tests.
process.env["NODE_ENV"] = "production";
const sources = hashOfSources();
write(SITES.explorer, { explorer: await buildExplorer() });
write(SITES.dashboard, { reference: buildReference(), dashboard: await buildDashboard() });

/** Writes the parts of a site, each into its folder, and removes all other files. */
function write(site: string, parts: Readonly<Record<string, ReadonlyMap<string, string | Uint8Array>>>): void {
  const names = new Set<string>();
  for (const [part, files] of Object.entries(parts))
    for (const [name, content] of files) {
      names.add(join(part, name));
      writeWhole(join(site, part, name), content);
    }
  for (const entry of readdirSync(site, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && entry.name !== ".sources" && !names.has(path.slice(site.length + 1)))
      rmSync(path, { force: true });
  }
  writeWhole(join(site, ".sources"), sources);
}

function writeWhole(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}
