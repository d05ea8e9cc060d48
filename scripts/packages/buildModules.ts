import { join, relative, sep } from "node:path";
import { build, type TsdownBundle, type UserConfig } from "tsdown";

export interface BuildOptions {
  /** `node` may import Node's own modules; `neutral` may not, since it runs in browsers too. */
  platform: "node" | "neutral";
  /** The oldest ECMAScript or Node whose syntax the modules use. */
  target: string;
  /** Modules that no export names, such as a worker: name in `dist` -> path in the project. */
  entries?: Readonly<Record<string, string>>;
  /** Shared modules by name in `dist`, in order of precedence, with the sources that they consist of. */
  chunks?: Readonly<Record<string, RegExp>>;
}

/**
 * Bundles TypeScript into ES modules with source maps and declarations. Dependencies stay imports; devDependencies that
 * the sources import become part of the modules (tsdown's rule).
 * @param root folder of the project
 * @param cwd folder of the package.json
 * @param entry name in `outDir` -> TypeScript file
 * @returns the packages whose code is in the modules: name -> version
 */
export async function buildModules(
  root: string,
  cwd: string,
  outDir: string,
  entry: Readonly<Record<string, string>>,
  { platform, target, chunks = {} }: BuildOptions,
): Promise<ReadonlyMap<string, string>> {
  const groups = Object.entries(chunks).map(([chunk, test], i, all) => ({
    // A declaration module is grouped like its module, but never with it.
    name: (id: string) => (id.endsWith(".d.ts") ? `${chunk}.d` : chunk),
    test,
    priority: all.length - i,
  }));
  const config: UserConfig = {
    ...{ cwd, outDir, platform, target, entry: { ...entry }, format: "esm", fixedExtension: false, hash: false },
    ...{ dts: { sourcemap: false }, sourcemap: true, report: false, logLevel: "warn", failOnWarn: true },
    // A slow machine is no reason to fail.
    checks: { bundlerTimings: false },
    tsconfig: join(root, "tsconfig.json"),
    outputOptions: {
      // Editors show what the declarations say; the maps contain the rest.
      comments: { legal: true, annotation: true, jsdoc: false },
      codeSplitting: { groups },
      // As if the sources lay beside `dist`: the maps contain their text.
      sourcemapPathTransform: (source, map) => {
        const path = relative(root, join(map, "..", source))
          .split(sep)
          .join("/");
        return `../${path.replace(/^packages\/[^/]+\//, "")}`;
      },
    },
  };
  const bundles = await build({ ...config, config: false });
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
