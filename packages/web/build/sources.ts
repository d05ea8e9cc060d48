import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const PROJECT = fileURLToPath(new URL("../../..", import.meta.url));
/** The folders of the built pages. The packages' tarballs contain these folders. */
export const SITES = {
  explorer: join(PROJECT, "packages/operator/site"),
  dashboard: join(PROJECT, "packages/service/site"),
};

/** All inputs of the build, relative to the project's folder. */
const INPUTS = [
  ...["packages/web", "packages/keyroot/src", "package-lock.json"],
  ...["docs/errors.md", "docs/openapi.json", "docs/openapi-operator.json"],
];

/** Returns the SHA-256 of the paths and contents of all build inputs. */
export function hashOfSources(): string {
  const hash = createHash("sha256");
  for (const input of INPUTS) {
    for (const path of filesIn(input)) hash.update(`${path}\n`).update(readFileSync(join(PROJECT, path)));
  }
  return hash.digest("hex");
}

function filesIn(path: string): string[] {
  if (statSync(join(PROJECT, path)).isFile()) return [path];
  const entries = readdirSync(join(PROJECT, path), { withFileTypes: true });
  const names = entries.map(({ name }) => name).filter((name) => name !== "node_modules" && !name.startsWith("."));
  return names.sort().flatMap((name) => filesIn(`${path}/${name}`));
}
