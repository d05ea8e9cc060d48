import { globSync } from "node:fs";

export interface Manifest {
  name: string;
  repository: { url: string };
  exports: Readonly<Record<string, string | Readonly<Record<string, string | null>>>>;
  sideEffects?: boolean | readonly string[];
  bin?: Readonly<Record<string, string>>;
  devDependencies?: Readonly<Record<string, string>>;
  [key: string]: unknown;
}

/**
 * Matches the path of a source. `dist` has the same structure as `src`: the source `./src/merkle/index.ts` becomes
 * `./dist/merkle/index.js` and `./dist/merkle/index.d.ts`.
 */
const SOURCE = /^\.\/src\/(.+)\.ts$/;

/**
 * Returns the modules that a package exports or runs. The keys are their names in `dist`, and the values are the
 * TypeScript files in the package's folder.
 * @param folder the path of the package's folder
 */
export function entriesOf({ exports, bin = {} }: Manifest, folder: string): Record<string, string> {
  const targets = [...Object.values(exports), ...Object.values(bin)];
  const paths = targets.map((target) => (typeof target === "string" ? target : (target["default"] ?? "")));
  // An export such as `./internal/*` stands for all files of a folder.
  const expand = (path: string) =>
    path.includes("*") ? globSync(path, { cwd: folder }).map((found) => `./${found}`) : [path];
  return Object.fromEntries(
    paths.flatMap(expand).flatMap((path) => {
      const [, name] = SOURCE.exec(path) ?? [];
      return name === undefined ? [] : [[name, path]];
    }),
  );
}

/**
 * Creates the package.json for the tarball. Its exports are the built modules and declarations instead of the
 * TypeScript files. Fields that only the repository needs are omitted.
 * @param files the names of the files and folders in the tarball
 */
export function packedManifest(manifest: Manifest, files: readonly string[]): object {
  const { exports, bin, sideEffects = true, ...rest } = manifest;
  delete rest.devDependencies;
  const built = <T extends string | null>(path: T) => (path?.replace(SOURCE, "./dist/$1.js") ?? null) as T;
  const packedExports = Object.entries(exports).map(([subpath, target]) => {
    const { default: path, ...conditions } = typeof target === "string" ? { default: target } : target;
    if (typeof path !== "string" || !SOURCE.test(path)) return [subpath, target];
    const others = Object.entries(conditions).map(([condition, file]) => [condition, built(file)] as const);
    const targets = { ...(Object.fromEntries(others) as object), default: built(path) };
    return [subpath, { types: path.replace(SOURCE, "./dist/$1.d.ts"), ...targets }];
  });
  return {
    ...rest,
    sideEffects: typeof sideEffects === "boolean" ? sideEffects : sideEffects.map(built),
    exports: Object.fromEntries(packedExports) as object,
    ...(bin && { bin: Object.fromEntries(Object.entries(bin).map(([command, path]) => [command, built(path)])) }),
    files: files.filter((name) => name !== "package.json").sort(),
  };
}
