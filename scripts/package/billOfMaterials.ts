import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "./manifest.ts";

interface Component {
  "bom-ref": string;
  name: string;
  purl: string;
}

/** A list of packages in the CycloneDX format. */
export interface BillOfMaterials {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/**
 * Lists the locked packages that a package needs: the packages that npm installs with the package, and the packages
 * with code in the package's modules.
 * @param root the folder of the project
 * @param folder the package's folder, relative to `root`
 */
export function billOfMaterials(root: string, folder: string): BillOfMaterials {
  const { name, devDependencies } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;
  const args = ["sbom", "--package-lock-only", "--sbom-format=cyclonedx", "--sbom-type=library", `--workspace=${name}`];
  // The development dependencies of a package are the packages with code in the package's modules.
  if (devDependencies === undefined) args.push("--omit=dev");
  const output = execFileSync("npm", args, { cwd: root, encoding: "utf8", shell: process.platform === "win32" });
  const found = JSON.parse(output) as BillOfMaterials;
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

/** Returns the name in a package URL, such as `pkg:npm/%40noble/hashes@2.4.0`. */
function nameIn(purl: string): string {
  return decodeURIComponent(purl.slice("pkg:npm/".length, purl.lastIndexOf("@")));
}
