import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import hre from "hardhat";
import { startStack } from "@keyroot/service/stack";
import { publishLocally } from "../../test/support/chain/local.ts";
import { sampleRecords } from "../../test/support/samples.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * What `npm start` prints when the contact's app has verified the keys (`VERIFIED`) and when all servers run (`READY`).
 */
const VERIFIED = /verified \d+ of \d+/;
const READY = "stays up until Ctrl-C";

/** Measures the seconds from `npm start` until the first keys are verified, and until all servers are running. */
export async function npmStart(folder: string, stackFile: string): Promise<{ verified: number; ready: number }> {
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  const env = { ...process.env, KEYROOT_STACK_FILE: stackFile };
  const child = spawn("npm", ["start", "--", "--port", "0"], {
    ...{ cwd: folder, env, detached: true, stdio: ["ignore", "pipe", "inherit"] },
  });
  const closed = once(child, "close");
  let verified = NaN;
  let ready = NaN;
  for await (const line of createInterface({ input: child.stdout })) {
    if (VERIFIED.test(line)) verified = seconds();
    if (!line.includes(READY)) continue;
    ready = seconds();
    // Like Ctrl-C, this signal ends npm and npm's child processes.
    if (child.pid !== undefined) process.kill(-child.pid, "SIGINT");
  }
  await closed;
  if (Number.isNaN(ready)) throw new Error(`npm start in ${folder} ended before it was ready.`);
  return { verified, ready };
}

/** Clones the committed files of this repository. Returns the duration in seconds. */
export function clone(folder: string): number {
  const start = performance.now();
  execFileSync("git", ["clone", "--quiet", "--no-local", ROOT, folder]);
  return (performance.now() - start) / 1000;
}

/**
 * Measures the seconds from the start of `npm install` to the first key that the installed library verifies. npm
 * installs the packed library in an empty folder.
 */
export async function installAndVerify(tarball: string, app: string): Promise<number> {
  await using cleanup = new AsyncDisposableStack();
  const stack = await startStack(hre, { ports: { chain: 0, files: 0 } });
  cleanup.defer(() => stack.close());
  const { rpcUrl: rpc, chainId, contract, merkleUrl } = stack;
  const records = sampleRecords(25);
  await publishLocally(stack, records);
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), '{ "type": "module", "private": true }');
  const program = `
    import { ANY_KEY, createVerifier, oneEndpoint } from "keyroot";
    const verifier = createVerifier({ ...${JSON.stringify({ rpc, chainId, contract, merkleUrl })}, trust: oneEndpoint() });
    await verifier.verify(${JSON.stringify(records[0]?.userID)}, { expectedPublicKey: ANY_KEY });`;
  writeFileSync(join(app, "verify.js"), program);
  const run = promisify(execFile);
  const start = performance.now();
  // Do not block this process, because the stack runs in it.
  await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", tarball], { cwd: app });
  await run(process.execPath, ["verify.js"], { cwd: app });
  return (performance.now() - start) / 1000;
}
