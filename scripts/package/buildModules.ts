import { join, relative, sep } from "node:path";
import { build, type InlineConfig, type TsdownBundle } from "tsdown";

export interface BuildOptions {
  /**
   * With `node`, modules may import Node's own modules. With `neutral`, they must not, because they also run in
   * browsers.
   */
  platform: "node" | "neutral";
  /** The oldest version of ECMAScript or Node that supports the modules' syntax. */
  target: string;
  /**
   * Modules that are not exports of the package, such as workers. The keys are their names in `dist`, and the values
   * are their sources in the package's folder.
   */
  entries?: Readonly<Record<string, string>>;
  /**
   * Shared modules. The keys are their names in `dist`, and the values are patterns for the paths of their sources. A
   * source belongs to the first module whose pattern matches, and so do its imports.
   */
  chunks?: Readonly<Record<string, RegExp>>;
  /**
   * Functions to replace, also in the code of bundled packages. The keys are the names of the replaced functions. Each
   * value is a file in the package's folder, and the name of the export that replaces the function.
   */
  inject?: Readonly<Record<string, readonly [file: string, name: string]>>;
  /**
   * The names of entries that become one module each, without imports and with code and types of their own.
   */
  standalone?: readonly string[];
  /** Creates one module per source file. Use it if sources find files relative to their own paths. */
  unbundle?: boolean;
}

/**
 * Builds ES modules with source maps and declarations from TypeScript. Dependencies remain imports, whereas
 * devDependencies that the sources import become part of the modules (tsdown's rule).
 * @param root the folder of the project
 * @param folder the folder of the package
 * @param entries each name in `outDir`, with its TypeScript file in the package's folder
 * @returns the names and versions of the packages with code in the modules
 */
export async function buildModules(
  root: string,
  folder: string,
  outDir: string,
  entries: Readonly<Record<string, string>>,
  options: BuildOptions,
): Promise<ReadonlyMap<string, string>> {
  const { platform, target, chunks = {}, inject = {}, unbundle = false, standalone = [] } = options;
  const groups = Object.entries(chunks).map(([chunk, test], i, all) => ({
    // Declarations are modules, too. Group declarations like code, but not together with code.
    name: (id: string) => (id.endsWith(".d.ts") ? `${chunk}.d` : chunk),
    test,
    priority: all.length - i,
  }));
  const injected = Object.entries(inject).map(([name, [file, as]]) => [name, [join(folder, file), as]] as const);
  const common: InlineConfig = {
    ...{ cwd: folder, root: join(folder, "src"), outDir, platform, target, unbundle },
    ...{ config: false, format: "esm", fixedExtension: false, hash: false, dts: { sourcemap: false }, sourcemap: true },
    ...{ clean: false, report: false, logLevel: "warn", failOnWarn: true, tsconfig: join(root, "tsconfig.json") },
    // Keep Node's modules as imports. The platform `neutral` would bundle Node's modules.
    deps: { neverBundle: [/^node:/] },
    // If the target has no class fields, use assignments, because a definition of a property takes ten times as long.
    inputOptions: (input) => ({
      ...input,
      // Do not read tsconfig.json, because this file has a different setting for class fields.
      tsconfig: false,
      // The platform `neutral` would not find packages that name their module only in the field `main`.
      resolve: { ...input.resolve, mainFields: ["module", "main"] },
      transform: {
        ...input.transform,
        assumptions: { setPublicClassFields: true },
        typescript: { removeClassFieldsWithoutInitializer: true },
        inject: Object.fromEntries(injected) as Record<string, [string, string]>,
      },
    }),
    // Do not fail on slow machines, where the build takes longer.
    checks: { bundlerTimings: false },
  };
  const outputOptions = {
    // Omit the comments. Editors show the comments from the declarations, and the source maps also contain the
    // comments.
    comments: { legal: true, annotation: true, jsdoc: false },
    // The paths in the maps assume that the sources are next to `dist`. They need not exist there, because the maps
    // also contain the text of the sources.
    sourcemapPathTransform: (source: string, map: string) => {
      const path = relative(root, join(map, "..", source))
        .split(sep)
        .join("/");
      const inPackage = path.replace(/^packages\/[^/]+\//, "");
      return relative(join(map, ".."), join(outDir, "..", inPackage))
        .split(sep)
        .join("/");
    },
  };
  const names = new Set(Object.keys(entries).map((name) => name.replace(/^.*\//, "")));
  const shared = {
    // A shared module must not take the name of an entry, whose declarations would then get another name.
    chunkFileNames: ({ name }: { name: string }) =>
      names.has(name.replace(/\.d$/, "")) ? "[name]-shared.js" : "[name].js",
  };
  const split = Object.entries({ ...entries, ...options.entries }).filter(([name]) => !standalone.includes(name));
  const codeSplitting = groups.length > 0 && { codeSplitting: { groups } };
  const bundles = await build({
    ...common,
    entry: Object.fromEntries(split),
    outputOptions: { ...outputOptions, ...shared, ...codeSplitting },
  });
  for (const name of standalone) {
    const entry = { [name]: entries[name] ?? "" };
    bundles.push(...(await build({ ...common, entry, outputOptions: { ...outputOptions, codeSplitting: false } })));
  }
  return bundledIn(bundles);
}

function bundledIn(bundles: readonly TsdownBundle[]): ReadonlyMap<string, string> {
  const bundled = new Map<string, string>();
  for (const { inlinedDeps } of bundles) {
    for (const [name, [version = "", ...others]] of inlinedDeps) {
      if (others.length > 0)
        throw new Error(`${name} is bundled in several versions: ${version}, ${others.join(", ")}.`);
      bundled.set(name, version);
    }
  }
  return new Map([...bundled].sort());
}
