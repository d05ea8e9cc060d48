import { buildPage } from "./buildPage.ts";
import { buildScript, type PinnedScript } from "./buildScript.ts";
import { readErrorTable } from "./errorTable.ts";

/**
 * Builds the explorer's page: files by their paths relative to it. The page loads one script, one stylesheet and
 * workers, each pinned by its hash. So all code is fixed by the page itself, and its policy allows no other.
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
  // The page is last, so that everything it loads exists.
  return new Map([...files, ...page]);
}

/**
 * The workers, and the modules that each leaves out. With one endpoint, a verification needs only the first. Stronger
 * evidence needs Ethereum's proofs, in a worker that replaces the first one. Signed blocks also need signatures, which are
 * larger than everything else. A safety code takes 0.1 s to compute, and the start page reads the registry: both have
 * separate workers.
 */
const WORKERS: Readonly<Record<string, RegExp | undefined>> = {
  basic: /\/readRootAtBlock\.ts$/,
  evidence: undefined,
  signedBlock: undefined,
  safetyCode: undefined,
  registry: undefined,
};
