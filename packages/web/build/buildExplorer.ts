import { buildPage } from "./buildPage.ts";
import { buildScript, type PinnedScript } from "./buildScript.ts";
import { readErrorTable } from "./errorTable.ts";

/**
 * Builds the explorer. Returns its files by their paths relative to the page. The page contains the hash of each
 * script, stylesheet and worker. The page therefore determines all code, and its policy allows no other code.
 */
export async function buildExplorer(): Promise<Map<string, string | Uint8Array>> {
  const workers: Record<string, PinnedScript> = {};
  const licenses = new Set<string>();
  const files = new Map<string, string | Uint8Array>();
  for (const [name, external] of Object.entries(WORKERS)) {
    const { code, ...script } = await buildScript("explorer", `worker/${name}.ts`, licenses, external);
    files.set(script.url, code);
    workers[name] = script;
  }

  const page = await buildPage(
    "explorer",
    { WORKERS: JSON.stringify(workers), ERROR_TABLE: JSON.stringify(readErrorTable()) },
    licenses,
  );
  // The page comes last, so that all files that it loads are written first.
  return new Map([...files, ...page]);
}

/**
 * The workers, each with a pattern for the modules that it omits. A verification with one endpoint needs only the first
 * worker. Stronger evidence needs Ethereum's proofs, in a worker that replaces the first one. Signed blocks also need
 * signature code, which is larger than all other code. Safety codes (0.1 s to compute) and the start page's registry
 * each have a separate worker.
 */
const WORKERS: Readonly<Record<string, RegExp | undefined>> = {
  basic: /\/readRootAtBlock\.ts$/,
  evidence: undefined,
  signedBlock: undefined,
  safetyCode: undefined,
  registry: undefined,
};
