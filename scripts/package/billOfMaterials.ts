import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Manifest } from "./manifest.ts";

interface Component {
  "bom-ref": string;
  name: string;
  purl: string;
}

/** A list of packages in the CycloneDX format. */
export interface BillOfMaterials {
  metadata: { component: Component; tools: { vendor: string; name: string; version: string }[] };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/** The pinned npm of the project, so that the result does not depend on the machine's npm. */
const NPM = join(dirname(createRequire(import.meta.url).resolve("npm/package.json")), "bin/npm-cli.js");

/**
 * Lists the locked packages that a package needs: the packages that npm installs with it, and those whose code is part
 * of its modules.
 * @param root the folder of the project
 * @param folder the package's folder, relative to `root`
 */
export function billOfMaterials(root: string, folder: string): BillOfMaterials {
  const { name, devDependencies } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;
  const args = ["sbom", "--package-lock-only", "--sbom-format=cyclonedx", "--sbom-type=library", `--workspace=${name}`];
  // The development dependencies of a package are the packages whose code is in its modules.
  if (devDependencies === undefined) args.push("--omit=dev");
  const found = JSON.parse(runOnManifests(root, args)) as BillOfMaterials;
  const { metadata, dependencies } = found;
  // npm describes the whole repository, and names each workspace by its folder.
  const repository = metadata.component["bom-ref"];
  const components = found.components.map((one) => ({ ...one, name: nameIn(one.purl) }));
  const component = components.find((one) => one.name === name);
  if (component === undefined) throw new Error(`npm sbom does not list ${name}.`);
  return {
    ...found,
    metadata: { ...metadata, component },
    components: components.filter((one) => one !== component),
    dependencies: dependencies.filter(({ ref }) => ref !== repository),
  };
}

/**
 * Runs npm on a copy of the project's manifests and lock file. npm names the root package after its folder, and
 * `--workspace` selects packages by name. In a folder named `keyroot`, `--workspace=keyroot` would therefore select
 * every package, so the copy is in a folder with another name.
 */
function runOnManifests(root: string, args: readonly string[]): string {
  const copy = mkdtempSync(join(tmpdir(), "keyroot-manifests-"));
  try {
    const { workspaces } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { workspaces: string[] };
    const manifests = globSync(
      workspaces.map((one) => `${one}/package.json`),
      { cwd: root },
    );
    for (const path of ["package.json", "package-lock.json", ...manifests]) cpSync(join(root, path), join(copy, path));
    // Without the variables of an `npm run`, which would be options of this npm too.
    const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^npm_/i.test(key)));
    return execFileSync(process.execPath, [NPM, ...args], { cwd: copy, encoding: "utf8", env });
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Returns the name in a package URL, such as `pkg:npm/%40noble/hashes@2.4.0`. */
function nameIn(purl: string): string {
  return decodeURIComponent(purl.slice("pkg:npm/".length, purl.lastIndexOf("@")));
}
