import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hashOfSources, SITES } from "./sources.ts";

/**
 * Builds the web pages if their sources have changed. The bundler takes half a second to load, so the build runs in a
 * separate process.
 * @throws Error if the build fails. Its output is on standard error
 */
export async function buildSite(): Promise<void> {
  if (isBuilt()) return;
  const script = fileURLToPath(new URL("buildSite.ts", import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ["ignore", 2, 2] });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error("The web pages cannot be built. The reason is above.");
}

function isBuilt(): boolean {
  try {
    const hash = hashOfSources();
    return Object.values(SITES).every((site) => readFileSync(join(site, ".sources"), "utf8") === hash);
  } catch {
    return false;
  }
}
