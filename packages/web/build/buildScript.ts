import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import { bundle, commonConfig, integrityOf, type Part } from "./buildPage.ts";
import { PROJECT } from "./sources.ts";

/** A script that a page loads on demand and pins by its hash. */
export interface PinnedScript {
  /** Relative to the page. */
  url: string;
  /** The value of the attribute `integrity`: sha384-<base64>. */
  integrity: string;
}

/**
 * Bundles a module of a part into one file, with its exports.
 * @param path relative to the part's folder
 * @param licenses gets the licenses of the packages in the file
 * @param external the modules that it leaves out
 */
export async function buildScript(
  part: Part,
  path: string,
  licenses: Set<string>,
  external?: RegExp,
): Promise<PinnedScript & { code: string }> {
  const output = await bundle(licenses, {
    ...commonConfig(part),
    build: {
      ...{ write: false, target: "es2022", modulePreload: false },
      rolldownOptions: {
        input: join(PROJECT, "packages/web/src", part, path),
        output: { codeSplitting: false },
        preserveEntrySignatures: "strict",
        ...(external && { external }),
      },
    },
  });
  const [chunk, ...others] = output;
  if (chunk?.type !== "chunk" || others.length > 0) throw new Error(`The script ${path} is not one file.`);
  // A page cannot load an omitted module, except on demand.
  if (chunk.imports.length > 0) throw new Error(`The script ${path} imports ${chunk.imports.join(", ")}.`);
  const { code } = chunk;
  const hash = createHash("sha256").update(code).digest("hex").slice(0, 8);
  return { url: `assets/${basename(path, ".ts")}-${hash}.js`, integrity: integrityOf(code), code };
}
