/** Other light clients from npm. They are not dependencies of this project, so the benchmark downloads them. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { bundle } from "../../test/support/browser/bundle.ts";
import { installLocked } from "../../test/support/packages/installLocked.ts";
import { median, round, type Row } from "../runner/report.ts";
import type { ChainData } from "./work.ts";

/** The npm package of Lodestar's light client, whose version is in lodestar/package.json. */
const LODESTAR = "@lodestar/light-client";
/** The packages and the files that a browser loads: one module, or all modules and WebAssembly files. */
const PACKED = [
  { name: "@a16z/helios", version: "0.11.1", files: /^dist\/lib\.mjs$/ },
  { name: "@corpus-core/colibri-stateless", version: "1.1.19", files: /^[^/]+\.(?:js|wasm)$/ },
];

/** Measurements of other light clients. */
export interface Peers {
  /** Lodestar's time in ms for all periods and for the last period, and Lodestar's BLS implementation. */
  lodestar: { all: number; one: number; slot: number; implementation: string; version: string };
  /** The sizes of the light clients in bytes after gzip. */
  sizes: Row[];
}

/** Measures Lodestar on the same data in a separate process, and the sizes of three light clients. */
export async function measurePeers({ bootstrap, updates }: ChainData, runs: number): Promise<Peers> {
  const folder = mkdtempSync(join(tmpdir(), "keyroot-peers-"));
  try {
    const lodestar = join(folder, "lodestar");
    await installLodestar(lodestar);
    copyFileSync(join(import.meta.dirname, "lodestar.mjs"), join(lodestar, "lodestar.mjs"));
    const data = { bootstrap: base64(bootstrap), updates: updates.map(base64) };
    const input = JSON.stringify(data);
    const output = execFileSync(process.execPath, ["lodestar.mjs", String(runs)], {
      ...{ cwd: lodestar, input, encoding: "utf8", stdio: ["pipe", "pipe", "inherit"] },
    });
    const { all, one, ...measured } = JSON.parse(output) as {
      all: number[];
      one: number[];
      slot: number;
      implementation: string;
    };
    const times = { all: round(median(all)), one: round(median(one)) };
    const manifest = readFileSync(join(lodestar, "node_modules", LODESTAR, "package.json"), "utf8");
    const { version } = JSON.parse(manifest) as { version: string };
    const sizes = [
      ["keyroot, verifier and light client", "this version", await sizeOfKeyroot()],
      [LODESTAR, version, await sizeOfLodestar(lodestar)],
      ...PACKED.map(({ name, version, files }) => [name, version, sizeOfPackage(`${name}@${version}`, files, folder)]),
    ].map(([what = "", version = "", gzippedBytes = NaN]) => ({ what, version, gzippedBytes }));
    return { lodestar: { ...measured, ...times, version }, sizes };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Creates a folder in which programs can import Lodestar. */
export async function installLodestar(folder: string): Promise<void> {
  const installed = await installLocked(join(import.meta.dirname, "lodestar"), "lodestar");
  mkdirSync(folder);
  symlinkSync(join(installed, "node_modules"), join(folder, "node_modules"));
}

async function sizeOfKeyroot(): Promise<number> {
  const app = `export { lightClient } from "keyroot/light-client"; export { createVerifier } from "keyroot";`;
  const { chunks } = await bundle(app, {}, import.meta.dirname);
  return sum([...chunks.values()].map((chunk) => gzipSync(chunk).length));
}

/** Bundles for Node, because Lodestar contains modules that do not exist in browsers. */
async function sizeOfLodestar(folder: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export { Lightclient } from "${LODESTAR}";`, resolveDir: folder },
    ...{ bundle: true, minify: true, format: "esm", platform: "node", write: false, logLevel: "silent" },
  });
  return sum(outputFiles.map(({ contents }) => gzipSync(contents).length));
}

function sizeOfPackage(packed: string, files: RegExp, parent: string): number {
  const folder = mkdtempSync(join(parent, "package-"));
  const [{ filename = "" } = {}] = JSON.parse(npm(["pack", "--json", packed], folder)) as { filename?: string }[];
  execFileSync("tar", ["xzf", filename], { cwd: folder });
  const root = join(folder, "package");
  const names = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => files.test(name));
  if (names.length === 0) throw new Error(`${packed} has no file that matches ${files.source}.`);
  return sum(names.map((name) => gzipSync(readFileSync(join(root, name))).length));
}

function npm(words: readonly string[], cwd: string): string {
  return execFileSync("npm", words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
