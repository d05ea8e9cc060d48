import { KEY_TYPE_NAMES } from "keyroot/internal/keyTypeNames";
import { globSync } from "node:fs";
import { buildPage } from "./buildPage.ts";
import { buildScript, type PinnedScript } from "./buildScript.ts";
import { PROJECT } from "./sources.ts";

/**
 * Builds the explorer, and returns its files by their paths relative to the page. The page contains the hash of each
 * script, stylesheet and worker, and its policy allows no other code. Therefore the page alone determines all code.
 */
export async function buildExplorer(): Promise<Map<string, string | Uint8Array>> {
  checkPaths(Object.values(WORKERS).flat());
  const workers: Record<string, PinnedScript> = {};
  const licenses = new Set<string>();
  const files = new Map<string, string | Uint8Array>();
  for (const [name, omitted] of Object.entries(WORKERS)) {
    const { code, ...script } = await buildScript("explorer", `worker/${name}.ts`, licenses, omitted);
    files.set(script.url, code);
    workers[name] = script;
  }

  const page = await buildPage("explorer", { WORKERS: JSON.stringify(workers) }, licenses);
  // The page comes last, so that all files that it loads are written first.
  return new Map([...files, ...page]);
}

/** Checks that the omitted modules exist. Otherwise, a renamed module would silently become part of the workers. */
function checkPaths(omitted: readonly string[]): void {
  for (const path of omitted.map((one) => one.replace(/\.ts → .*/, "")))
    if (globSync(`packages/keyroot/src/**/${path}.ts`, { cwd: PROJECT }).length === 0)
      throw new Error(`The build of the explorer omits the module ${path}, which does not exist.`);
}

/**
 * The modules that no explorer needs: watches, block proofs and new keys. The library loads them on demand. A worker is
 * a single file and would therefore contain them, so they are omitted.
 */
const UNUSED = [
  "watch/watch",
  ...["lightClient/blockProof", "keyTypes/curve41417Group", "keyTypes/x25519.ts → @noble/curves/ed25519.js"],
];
/** The key types of explorers that are configured with one of them. They need the worker `complete`. */
const OTHER_KEY_TYPES = KEY_TYPE_NAMES.filter((name) => name !== "curve41417").map((name) => `keyTypes/${name}`);
/** The modules for registries with accounts and for contact lists. */
const ACCOUNTS = ["verifyContacts", "accountSlot", "twoRootsByCall"].map((name) => `verifier/${name}`);
const ONE_KEY_TYPE = [...UNUSED, ...OTHER_KEY_TYPES, ...ACCOUNTS];

/**
 * The workers, each with the modules that it omits. A verification with one endpoint needs only `basic`. Stronger
 * evidence needs Ethereum's proofs, so `evidence` replaces `basic`. Signed blocks also need signature code, which is
 * larger than all other code. Safety codes (0.1 s to compute), their QR codes, contact lists and the registry of the
 * start page each have a separate worker.
 */
const WORKERS: Readonly<Record<string, readonly string[]>> = {
  basic: [...ONE_KEY_TYPE, "verifier/readRootAtBlock"],
  evidence: ONE_KEY_TYPE,
  // Auditors sign with Ed25519, so the code for these keys is there anyway.
  signedBlock: ONE_KEY_TYPE.filter((path) => path !== "keyTypes/ed25519"),
  safetyCode: ONE_KEY_TYPE,
  registry: [],
  qr: [],
  list: UNUSED,
  complete: UNUSED,
};
