/**
 * Runs the watch of an app over an honest but faulty network: `npm run soak:watch [rounds] [seed]`, 10,000 rounds by
 * default. Requests time out, fail, are cut off, are limited, and reach nodes that are behind; the chain is reorganized;
 * the device is offline or asleep; the app is killed in the middle of a round. No alarm may be raised. Afterwards, lies in
 * the same network must raise theirs. In the end, processes with a store in a folder are killed by SIGKILL.
 */
import hre from "hardhat";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { startLocalChain } from "@keyroot/operator/stack";
import { hasAnvil, startAnvil } from "../fixtures/anvil/anvil.ts";
import { reorganize } from "../fixtures/anvil/anvilControl.ts";
import { sampleRecords, sha256 } from "../fixtures/samples.ts";
import { soakWatch } from "../fixtures/watch/soakWatch.ts";
import { ANVIL_OPTIONS, startWatchedChain, type WatchedChain } from "../fixtures/watch/watchedChain.ts";
import type { ProcessOptions } from "../fixtures/watch/watchUntilKilled.ts";
import { numberArguments } from "./numberArguments.ts";

const [ROUNDS, SEED] = numberArguments(10_000, 1);
const APP = fileURLToPath(new URL("../fixtures/watch/watchUntilKilled.ts", import.meta.url));
const PROCESS_KILLS = 40;
/** A process starts in about 500 ms, and lives this long at most. */
const MAX_LIFE_MS = 2000;

await using running = new AsyncDisposableStack();
const chain = await startWatchedChain(hasAnvil ? await startAnvil(...ANVIL_OPTIONS) : await startHardhat());
running.defer(() => chain.close());
const started = performance.now();
const { alarms, ...counts } = await soakWatch(chain, {
  rounds: ROUNDS,
  seed: SEED,
  // Hardhat's chain cannot be reorganized.
  reorganize: hasAnvil ? () => reorganize(chain.call, 7) : undefined,
  onRound: (round) => {
    if (round % 100 === 0) process.stderr.write(`\r${round} rounds`);
  },
});
const processes = await killProcesses(chain);
const seconds = Math.round((performance.now() - started) / 1000);
const falseAlarms = alarms.length + processes.alarms;
const summary = { seed: SEED, ...counts, processKills: PROCESS_KILLS, processRounds: processes.rounds, falseAlarms };
process.stdout.write(`\n${JSON.stringify({ ...summary, seconds }, null, 2)}\n`);
for (const { code, message } of alarms) process.stdout.write(`${code}: ${message}\n`);
process.exitCode = falseAlarms === 0 && counts.detected === counts.lies ? 0 : 1;

/** Kills an app's process again and again, at any moment, and starts it again with the same store. */
async function killProcesses(chain: WatchedChain) {
  const { rpc, chainId, contract, merkleUrl } = chain;
  const folder = await mkdtemp(join(tmpdir(), "keyroot-soak-watch-"));
  const [own] = sampleRecords(1, SEED + 1_000_000);
  if (own === undefined) throw new RangeError("There is no sample record.");
  const { userID, pubKey: publicKey } = own;
  const options: ProcessOptions = { verifier: { rpc, chainId, contract, merkleUrl }, folder, userID, publicKey };
  let [rounds, alarms] = [0, 0];
  for (let kill = 1; kill <= PROCESS_KILLS; kill++) {
    if (kill === PROCESS_KILLS / 2) await chain.publish([own]);
    const child = spawn(process.execPath, [APP, JSON.stringify(options)], { stdio: ["ignore", "pipe", "inherit"] });
    const output = text(child.stdout);
    const lifeMs = Number.parseInt(sha256(`${SEED}:${kill}`).slice(0, 6), 16) % MAX_LIFE_MS;
    const timer = setTimeout(() => child.kill("SIGKILL"), lifeMs);
    const [code] = (await once(child, "exit")) as [number | null];
    clearTimeout(timer);
    if (code !== null) throw new Error(`The app ended by itself, with the exit code ${code}.`);
    const lines = (await output).split("\n");
    rounds += lines.filter((line) => line.startsWith("round")).length;
    alarms += lines.filter((line) => line.startsWith("alarm")).length;
  }
  await rm(folder, { recursive: true });
  return { rounds, alarms };
}

async function startHardhat() {
  const local = await startLocalChain(hre, { port: 0 });
  return { url: local.rpcUrl, close: () => local.close() };
}
