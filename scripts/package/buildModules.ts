import { join, relative, sep } from "node:path";
import { build, type TsdownBundle } from "tsdown";

export interface BuildOptions {
  /** `node` may import Node's own modules; `neutral` may not, since it runs in browsers too. */
  platform: "node" | "neutral";
  /** The oldest ECMAScript or Node whose syntax the modules use. */
  target: string;
  /** Modules that no export names, such as a worker: name below `dist` -> path in the package's folder. */
  entries?: Readonly<Record<string, string>>;
  /** Shared modules: name below `dist` -> their sources and the imports of these. The first match counts. */
  chunks?: Readonly<Record<string, RegExp>>;
  /** Functions that also replace those of the packages inside: name -> file in the package's folder, and its export. */
  inject?: Readonly<Record<string, readonly [file: string, name: string]>>;
  /** One module for each source file, where the sources find files relative to their own paths. */
  unbundle?: boolean;
}

/**
 * Builds ES modules with source maps and declarations from TypeScript. Dependencies stay imports; devDependencies that
 * the sources import become part of the modules (tsdown's rule).
 * @param root folder of the project
 * @param folder of the package
 * @param entries name below `outDir` -> TypeScript file in the package's folder
 * @returns the packages whose code is in the modules: name -> version
 */
export async function buildModules(
  root: string,
  folder: string,
  outDir: string,
  entries: Readonly<Record<string, string>>,
  options: BuildOptions,
): Promise<ReadonlyMap<string, string>> {
  const { platform, target, chunks = {}, inject = {}, unbundle = false } = options;
  const groups = Object.entries(chunks).map(([chunk, test], i, all) => ({
    // Declarations are modules too. They are grouped like code, but never with it.
    name: (id: string) => (id.endsWith(".d.ts") ? `${chunk}.d` : chunk),
    test,
    priority: all.length - i,
  }));
  const injected = Object.entries(inject).map(([name, [file, as]]) => [name, [join(folder, file), as]] as const);
  const bundles = await build({
    ...{ cwd: folder, root: join(folder, "src"), outDir, platform, target, unbundle },
    entry: { ...entries, ...options.entries },
    ...{ config: false, format: "esm", fixedExtension: false, hash: false, dts: { sourcemap: false }, sourcemap: true },
    ...{ clean: false, report: false, logLevel: "warn", failOnWarn: true, tsconfig: join(root, "tsconfig.json") },
    // Modules of Node, which the platform `neutral` would bundle.
    deps: { neverBundle: [/^node:/] },
    // Class fields are assigned, not defined, if the target has no class fields. Defining takes ten times as long.
    inputOptions: (input) => ({
      ...input,
      // Otherwise the compiler would take the opposite from tsconfig.json.
      tsconfig: false,
      transform: {
        ...input.transform,
        assumptions: { setPublicClassFields: true },
        typescript: { removeClassFieldsWithoutInitializer: true },
        inject: Object.fromEntries(injected) as Record<string, [string, string]>,
      },
    }),
    // Slow machines must not fail.
    checks: { bundlerTimings: false },
    outputOptions: {
      // Editors show the declarations. The maps contain the comments.
      comments: { legal: true, annotation: true, jsdoc: false },
      ...(groups.length > 0 && { codeSplitting: { groups } }),
      // The paths suppose that the sources are next to `dist`. The maps contain their text.
      sourcemapPathTransform: (source, map) => {
        const path = relative(root, join(map, "..", source))
          .split(sep)
          .join("/");
        const inPackage = path.replace(/^packages\/[^/]+\//, "");
        return relative(join(map, ".."), join(outDir, "..", inPackage))
          .split(sep)
          .join("/");
      },
    },
  });
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
