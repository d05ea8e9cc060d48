import { createRequire } from "node:module";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { unpackPackage } from "../support/packages/installPackages.ts";
import { installLocked } from "../support/packages/installLocked.ts";

const PLATFORM = `${process.platform}-${process.arch}`;

/** The runtimes, bundlers and compilers of this folder's package.json. They take 1.3 GB, so only these tests install them. */
export interface ConsumerTools {
  /** Nodes by their major versions. Not every version is on npm for every platform. */
  node: Readonly<Partial<Record<22 | 26, string>>>;
  bun: string;
  /** Undefined on platforms for which npm has no Deno. */
  deno: string | undefined;
  /** Scripts for Node. */
  typescript: Readonly<Record<"5.0" | "7.0", string>>;
  attw: string;
  vite: string;
  webpack: string;
  next: string;
  jest: string;
  /** Undefined on platforms for which npm has no workerd. */
  workerd: string | undefined;
  /** The folder in which these packages are installed. */
  folder: string;
}

/**
 * Creates a project of a framework, with the packed packages. The framework is in a folder above, because frameworks do
 * not follow links to packages elsewhere.
 * @returns the project's folder
 */
export async function makeProject(
  { folder }: ConsumerTools,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const project = join(folder, "projects", name);
  await rm(project, { recursive: true, force: true });
  await writeFiles(project, files);
  for (const packed of ["keyroot", "client"]) await unpackPackage(packed, project);
  return project;
}

/** Writes files in a folder, by their paths. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
}

/** Installs the locked tools once, and again when the lock changes. */
export async function installTools(): Promise<ConsumerTools> {
  const folder = await installLocked(import.meta.dirname, "consumers");
  const require = createRequire(join(folder, "package.json"));
  const find = (path: string) => {
    try {
      return require.resolve(path);
    } catch {
      return undefined;
    }
  };
  const within = (path: string) => join(folder, "node_modules", path);
  const node = (major: number) => find(`node-${major}-${PLATFORM}/bin/node`);
  const [node22, node26] = [node(22), node(26)];
  return {
    node: { ...(node22 && { 22: node22 }), ...(node26 && { 26: node26 }) },
    bun: require.resolve(`@oven/bun-${process.platform}-${BUN_ARCH[process.arch] ?? process.arch}/bin/bun`),
    deno: find(`@deno/${PLATFORM}-glibc/deno`),
    typescript: { "5.0": within("typescript-5.0/bin/tsc"), "7.0": within("typescript-7.0/bin/tsc") },
    attw: within("@arethetypeswrong/cli/dist/index.js"),
    vite: within("vite/bin/vite.js"),
    webpack: within("webpack/lib/index.js"),
    next: within("next/dist/bin/next"),
    jest: within("jest/bin/jest.js"),
    workerd: find(
      `@cloudflare/workerd-${process.platform}-${process.arch === "x64" ? "64" : process.arch}/bin/workerd`,
    ),
    folder,
  };
}

const BUN_ARCH: Readonly<Record<string, string>> = { arm64: "aarch64" };
