import { createHash } from "node:crypto";
import { join } from "node:path";
import { buildPage, bundle, commonConfig, integrityOf } from "./buildPage.ts";
import { readErrorTable } from "./errorTable.ts";
import { PROJECT } from "./sources.ts";

/** A script that the page fetches and pins by its hash. */
interface PinnedScript {
  /** Relative to the page. */
  url: string;
  /** As in the attribute `integrity`: sha384-<base64>. */
  integrity: string;
}

/**
 * Builds the explorer's page: files by their paths relative to it. The page loads one script, one stylesheet and
 * workers, each pinned by its hash. So all code is fixed by the page itself, and its policy allows no other.
 */
export async function buildExplorer(): Promise<Map<string, string | Uint8Array>> {
  const workers: Record<string, PinnedScript> = {};
  const licenses = new Set<string>();
  const files = new Map<string, string | Uint8Array>();
  for (const [name, external] of Object.entries(WORKERS)) {
    const code = await buildWorker(name, external, licenses);
    const url = `assets/${name}-${createHash("sha256").update(code).digest("hex").slice(0, 8)}.js`;
    files.set(url, code);
    workers[name] = { url, integrity: integrityOf(code) };
  }

  const page = await buildPage(
    "explorer",
    { WORKERS: JSON.stringify(workers), ERROR_TABLE: JSON.stringify(readErrorTable()) },
    licenses,
  );
  // The page comes last, when everything that it loads is there.
  return new Map([...files, ...page]);
}

/**
 * The workers, and the modules that each leaves out. Most visitors need only one endpoint's word. Stronger evidence brings
 * Ethereum's proofs, in a worker that replaces the first one. Few compare safety codes, which take 0.1 s to compute.
 */
const WORKERS: Readonly<Record<string, RegExp | undefined>> = {
  basic: /\/(?:readRootAtBlock|keccak)\.ts$/,
  evidence: undefined,
  safetyCode: undefined,
};

async function buildWorker(name: string, external: RegExp | undefined, licenses: Set<string>): Promise<string> {
  const output = await bundle(licenses, {
    ...commonConfig("explorer"),
    build: {
      ...{ write: false, target: "es2022", modulePreload: false },
      rolldownOptions: {
        input: join(PROJECT, "packages/web/src/explorer/worker", `${name}.ts`),
        output: { codeSplitting: false },
        ...(external && { external }),
      },
    },
  });
  const [chunk, ...others] = output;
  if (chunk?.type !== "chunk" || others.length > 0) throw new Error(`The worker ${name} is not one file.`);
  return chunk.code;
}
