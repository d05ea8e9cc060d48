/**
 * Kills publishers and lets everything else go wrong, again and again: `npm run soak:publisher [rounds] [seed]`. In each round
 * a process of its own publishes users through an endpoint with faults; it is killed by SIGKILL at a random moment, started
 * again, killed again, until one gets through; meanwhile blocks vanish, and files of its plan. Then every user must have one
 * right root, and every root its file, as judged by code that shares nothing with the publisher. It ends with the first round
 * in which that does not hold.
 */
import hre from "hardhat";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { serializeKeyRecord } from "keyroot/identity";
import { parsePlan } from "@keyroot/operator/publisher";
import { startFileHost } from "@keyroot/operator/stack";
import { startLocalChain } from "@keyroot/operator/stack";
import { rpcCaller } from "keyroot/transport";
import { startAnvil } from "../fixtures/anvil/anvil.ts";
import { reorganise } from "../fixtures/anvil/anvilControl.ts";
import { startFaultyProxy } from "../fixtures/publisher/faultyEndpoint.ts";
import { judgeField } from "../fixtures/publisher/rivals.ts";
import { deployOn } from "../fixtures/freshRegistry.ts";
import { sampleRecords, sha256 } from "../fixtures/samples.ts";

const ROUNDS = Number(process.argv[2] ?? 200);
const SEED = Number(process.argv[3] ?? 1);
const PUBLISHER = fileURLToPath(new URL("../fixtures/publisher/publishOnce.ts", import.meta.url));
const USERS = 24;
/** Of a thousand calls, how many meet a fault. */
const FAULTS_PER_MILLE = 30;
/** Within as many of its calls, and so many ms, a publisher is killed; if it has ended by then, it was quicker. */
const LATEST_KILL_CALL = 60;
const LATEST_KILL_MS = 30;
const MOST_KILLS = 3;
const MOST_RUNS = 40;

let lastWords = "";
let killed = 0;
let failed = 0;
let faults = 0;
let reorganisations = 0;
let lostFiles = 0;
for (let round = 1; round <= ROUNDS; round++) {
  const onAnvil = round % 2 === 0;
  await using running = new AsyncDisposableStack();
  const chain = onAnvil ? await startAnvil() : await startHardhat();
  running.defer(() => chain.close());
  const dir = await mkdtemp(join(tmpdir(), "keyroot-soak-"));
  running.defer(() => rm(dir, { recursive: true, force: true }));
  const merkleDir = join(dir, "files");
  await mkdir(merkleDir);
  const host = await startFileHost({ dir: merkleDir, port: 0 });
  running.defer(() => host.close());
  const proxy = await startFaultyProxy(chain.url, { slowMs: 50 });
  running.defer(() => proxy.close());

  const call = rpcCaller(chain.url, { maxBytes: 2 ** 20, timeoutMs: 30_000 });
  const [owner = ""] = (await call("eth_accounts", [])) as string[];
  const contract = await deployOn(call, owner);
  // Deeper than the blocks that will vanish.
  await call("hardhat_mine", ["0x10"]);
  const records = sampleRecords(USERS, round);
  const path = join(dir, "users.jsonl");
  await writeFile(path, records.map((record) => `${serializeKeyRecord(record)}\n`).join(""));
  const words = [proxy.url, contract, path, merkleDir, host.url, join(dir, "plan")];
  proxy.storm({ seed: SEED * 1_000_000 + round, perMille: FAULTS_PER_MILLE });

  let kills = 0;
  for (let run = 1; ; run++) {
    if (run > MOST_RUNS)
      throw new Error(`Round ${round}: no publisher got through in ${MOST_RUNS} runs.\n${lastWords}`);
    const killAt = kills < MOST_KILLS ? 1 + random(`${round}:${run}:call`, LATEST_KILL_CALL) : Infinity;
    const killAfterMs = random(`${round}:${run}:ms`, LATEST_KILL_MS);
    const code = await publishOnce(words, (kill) => {
      let calls = 0;
      proxy.onCall = () => {
        if (++calls === killAt) setTimeout(kill, killAfterMs);
      };
    });
    if (code === "killed") {
      kills++;
      if (onAnvil && random(`${round}:${run}:reorganise`, 4) === 0) {
        reorganisations++;
        await reorganise(call, 1 + random(`${round}:${run}:depth`, 5));
      }
      const plan = join(dir, "plan", "plan.jsonl");
      if (random(`${round}:${run}:lose`, 3) === 0 && existsSync(plan)) {
        lostFiles++;
        const { batches } = parsePlan(await readFile(plan));
        const lost = batches[random(`${round}:${run}:file`, batches.length)];
        await rm(join(merkleDir, `${lost?.root}.json`), { force: true });
      }
    } else if (code === 0) break;
    else failed++;
  }
  killed += kills;
  faults += proxy.count();
  await judgeField({ call, contract, owner, merkleDir }, records);
  process.stderr.write(`\r${round} rounds, ${killed} killed, ${failed} runs failed, ${faults} faults`);
}
const summary = { rounds: ROUNDS, seed: SEED, killed, failedRuns: failed, faults, reorganisations, lostFiles };
process.stdout.write(`\n${JSON.stringify(summary)}\nEvery user has one right root, and every root its file.\n`);

/** Runs a publisher to its end, or until it is killed. @param arm is handed what kills it */
async function publishOnce(words: readonly string[], arm: (kill: () => void) => void): Promise<number | "killed"> {
  const child = spawn(process.execPath, [PUBLISHER, ...words], { stdio: ["ignore", "ignore", "pipe"] });
  arm(() => child.kill("SIGKILL"));
  const said = text(child.stderr);
  const [code] = (await once(child, "exit")) as [number | null];
  lastWords = await said;
  return code ?? "killed";
}

async function startHardhat() {
  const chain = await startLocalChain(hre, { port: 0 });
  return { url: chain.rpcUrl, close: () => chain.close() };
}

/** A whole number from 0 up to, and without, a limit; always the same for the same words. */
function random(words: string, limit: number): number {
  return Number.parseInt(sha256(`${SEED}:${words}`).slice(0, 8), 16) % limit;
}
