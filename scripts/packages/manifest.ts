/** A package.json, as far as packing needs to know. */
export interface Manifest {
  name: string;
  repository: { url: string };
  exports: Readonly<Record<string, string | Readonly<Record<string, string | null>>>>;
  bin?: Readonly<Record<string, string>>;
  devDependencies?: Readonly<Record<string, string>>;
  [key: string]: unknown;
}

const SOURCE = /^\.\/src\/.+\.ts$/;

/** The name in `dist` of an exported subpath: `index` for ".", `merkle` for "./merkle". */
const nameOf = (subpath: string) => (subpath === "." ? "index" : subpath.slice(2));

/** The modules that a package exports or runs: name in `dist` -> TypeScript file in the package's folder. */
export function entriesOf({ exports, bin = {} }: Manifest): Record<string, string> {
  const entries: Record<string, string> = {};
  for (const [subpath, target] of Object.entries(exports)) {
    const source = typeof target === "string" ? target : target["default"];
    if (source !== undefined && source !== null && SOURCE.test(source)) entries[nameOf(subpath)] = source;
  }
  for (const [command, source] of Object.entries(bin)) if (SOURCE.test(source)) entries[command] = source;
  return entries;
}

/**
 * The manifest for the tarball: exports of TypeScript files become exports of the built modules and their declarations.
 * Without what only the repository needs.
 * @param files names of the files and folders that the tarball contains
 */
export function packedManifest(manifest: Manifest, files: readonly string[]): object {
  const { exports, bin, ...rest } = manifest;
  delete rest.devDependencies;
  const built = (source: string, name: string) => (SOURCE.test(source) ? `./dist/${name}.js` : source);
  const packedExports = Object.entries(exports).map(([subpath, target]) => {
    const { default: source, ...conditions } = typeof target === "string" ? { default: target } : target;
    if (typeof source !== "string" || !SOURCE.test(source)) return [subpath, target];
    const name = nameOf(subpath);
    return [subpath, { types: `./dist/${name}.d.ts`, ...conditions, default: `./dist/${name}.js` }];
  });
  return {
    ...rest,
    exports: Object.fromEntries(packedExports) as object,
    ...(bin && { bin: Object.fromEntries(Object.entries(bin).map(([name, path]) => [name, built(path, name)])) }),
    files: files.filter((name) => name !== "package.json").sort(),
  };
}
