/**
 * Builds the packages as people install them:
 *
 *     node scripts/package/packPackages.ts                      all packages
 *     node scripts/package/packPackages.ts keyroot --out DIR    this one, into DIR
 *
 * For each package, `build/<name>` receives the files of the tarball, which `npm publish build/<name>` would publish.
 * The tarball is `build/<name>-<version>.tgz`, and `build/<name>.cdx.json` lists the packages that it needs or
 * contains. publint checks each tarball, and then the tarball's path is printed. `scripts/package/packages.ts`
 * describes what is in each package.
 *
 * If `PACKED_PACKAGES` names a folder with all packages, they are copied from there. With it, `npm run test:all` packs
 * them only once for all tests.
 */
import { copyFileSync, cpSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { PACKAGES } from "./packages.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: "string", default: fileURLToPath(new URL("../../build", import.meta.url)) } },
});
const out = resolve(values.out);
const names = Object.keys(PACKAGES);
const unknown = positionals.find((name) => !names.includes(name));
if (unknown !== undefined) throw new Error(`There is no package "${unknown}". Choose from: ${names.join(", ")}.`);

mkdirSync(out, { recursive: true });
const pack = await packer();
for (const name of names) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  process.stdout.write(`${await pack(name)}\n`);
}

/** Returns a function that builds one package and returns the path of its tarball. */
async function packer(): Promise<(name: string) => string | Promise<string>> {
  const packed = process.env["PACKED_PACKAGES"];
  if (packed !== undefined) return (name) => copyPackage(packed, name);
  // Load this module on demand, because a copy needs no bundler.
  const { buildSite } = await import("@keyroot/web/build");
  const { packPackage } = await import("./packPackage.ts");
  await buildSite();
  return (name) => packPackage(name, out);
}

function copyPackage(packed: string, name: string): string {
  cpSync(join(packed, name), join(out, name), { recursive: true });
  const manifest = JSON.parse(readFileSync(join(out, name, "package.json"), "utf8")) as {
    name: string;
    version: string;
  };
  // The file name that npm gives the tarball.
  const tarball = `${manifest.name.replace(/^@/, "").replace("/", "-")}-${manifest.version}.tgz`;
  copyFileSync(join(packed, tarball), join(out, tarball));
  return join(out, tarball);
}
