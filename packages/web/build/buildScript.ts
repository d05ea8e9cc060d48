import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import { bundle, commonConfig, integrityOf, type Part } from "./buildPage.ts";
import { PROJECT } from "./sources.ts";

/** A script that a page loads on demand and checks by its hash. */
export interface PinnedScript {
  /** The script's URL, relative to the page. */
  url: string;
  /** The value of the attribute `integrity`: `sha384-<base64>`. */
  integrity: string;
}

/**
 * Bundles a module and everything that it imports into one file with the module's exports.
 * @param path the module's path, relative to the part's folder
 * @param licenses receives the licenses of the packages in the file
 * @param omitted the imports that the file omits: the end of a module's path without ".ts", or `<importer> → <package>`
 */
export async function buildScript(
  part: Part,
  path: string,
  licenses: Set<string>,
  omitted: readonly string[] = [],
): Promise<PinnedScript & { code: string }> {
  const output = await bundle(licenses, {
    ...commonConfig(part),
    build: {
      ...{ write: false, target: "es2022", modulePreload: false },
      rolldownOptions: {
        input: join(PROJECT, "packages/web/src", part, path),
        output: { codeSplitting: false },
        preserveEntrySignatures: "strict",
        external: (id: string, importer = "") =>
          omitted.some((one) => id.endsWith(`/${one}.ts`) || `${importer} → ${id}`.endsWith(`/${one}`)),
      },
    },
  });
  const [chunk, ...others] = output;
  if (chunk?.type !== "chunk" || others.length > 0) throw new Error(`The script ${path} is not one file.`);
  // A page can load an omitted module only on demand.
  if (chunk.imports.length > 0) throw new Error(`The script ${path} imports ${chunk.imports.join(", ")}.`);
  const { code } = chunk;
  const hash = createHash("sha256").update(code).digest("hex").slice(0, 8);
  return { url: `assets/${basename(path, ".ts")}-${hash}.js`, integrity: integrityOf(code), code };
}
