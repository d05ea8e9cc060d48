/** A package of the lock file. */
interface Locked {
  version?: string;
  integrity?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/**
 * Returns these packages and all that they load, directly or indirectly, as paths in the lock file, with version and
 * SHA-512.
 * @param lock text of package-lock.json
 * @throws Error for a name that the lock file does not have
 */
export function lockedPackages(lock: string, names: readonly string[]): string[] {
  const { packages } = JSON.parse(lock) as { packages: Record<string, Locked> };
  const found = new Map<string, string>();
  const add = (name: string, from: string, isRequired: boolean) => {
    const path = resolve(packages, name, from);
    if (path === undefined && isRequired) throw new Error(`package-lock.json has no package ${name}.`);
    const locked = path === undefined ? undefined : packages[path];
    if (path === undefined || locked === undefined || found.has(path)) return;
    found.set(path, `${path} ${locked.version} ${locked.integrity}`);
    const { dependencies, optionalDependencies, peerDependencies } = locked;
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      add(next, path, false);
  };
  for (const name of names) add(name, "", true);
  return [...found.values()].sort();
}

/** The path of the package that `import name` finds in the package at `from`. */
function resolve(packages: Record<string, Locked>, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (path in packages) return path;
    if (folder === "") return undefined;
  }
}
