/**
 * Builds the web pages into packages/operator/site:
 *
 *     node packages/web/build/buildSite.ts
 *
 * Files are written one by one and whole, the page last, and old ones are removed at the end: two builds of the same
 * sources at the same time, or a reader during a build, do no harm.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildDashboard } from "./buildDashboard.ts";
import { buildExplorer } from "./buildExplorer.ts";
import { hashOfSources, SITE } from "./sources.ts";

const sources = hashOfSources();
const parts = { explorer: await buildExplorer(), dashboard: await buildDashboard() };
const names = new Set<string>();
for (const [part, files] of Object.entries(parts)) {
  for (const [name, content] of files) {
    write(join(part, name), content);
    names.add(join(part, name));
  }
}
for (const entry of readdirSync(SITE, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isFile() && entry.name !== ".sources" && !names.has(path.slice(SITE.length + 1)))
    rmSync(path, { force: true });
}
write(".sources", sources);

function write(name: string, content: string | Uint8Array): void {
  const path = join(SITE, name);
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}
