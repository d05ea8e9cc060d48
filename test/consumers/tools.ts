import { createRequire } from "node:module";
import { join } from "node:path";
import { installLocked } from "../support/packages/installLocked.ts";

const PLATFORM = `${process.platform}-${process.arch}`;

/** The runtimes, bundlers and compilers of this folder's package.json. They take 700 MB, so only these tests install them. */
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
  };
}

const BUN_ARCH: Readonly<Record<string, string>> = { arm64: "aarch64" };
