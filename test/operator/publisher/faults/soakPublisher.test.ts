/**
 * Kills publishers at random times. In each round, a process publishes users through an endpoint with random faults,
 * and is killed with SIGKILL and started again until a run succeeds. Meanwhile, blocks are reorganized, and files of
 * the plan are lost. Afterwards, every user must have one root with a correct file. The check shares no code with the
 * publisher.
 *
 * `FAULTS=large npm test -- test/operator/publisher/faults/soakPublisher.test.ts` runs 200 rounds. `FAULTS_SEED=2`
 * selects different faults.
 */
import { expect } from "chai";
import hre from "hardhat";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { serializeKeyRecord } from "keyroot/internal/identity";
import { FolderJournal } from "@keyroot/operator/publisher";
import { startFileHost, startLocalChain } from "@keyroot/service/stack";
import { rpcCaller } from "keyroot/internal/transport";
import { hasAnvil, startAnvil } from "../../../support/anvil/anvil.ts";
import { reorganize } from "../../../support/anvil/anvilControl.ts";
import { deployOn } from "../../../support/chain/freshRegistry.ts";
import { verifyDeployment } from "../../../support/publisher/deployment.ts";
import { startFaultyEndpoint } from "../../../support/publisher/faultyEndpoint.ts";
import { sampleRecords, sha256 } from "../../../support/samples.ts";
import { describeFaults, reported, SEED } from "../../../support/faults.ts";
import { isLarge } from "../../../support/testSize.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";

const ROUNDS = isLarge ? 200 : 4;
const PUBLISHER = fileURLToPath(new URL("../../../support/publisher/publishOnce.ts", import.meta.url));
const USERS = 24;
/** The number of calls per thousand that fail or return false responses. */
const FAULTS_PER_MILLE = 30;
/** The publisher is killed within this time in ms after one of its first calls, unless it ends earlier. */
const MAX_KILL_CALL = 60;
const MAX_KILL_MS = 30;
const MAX_KILLS = 3;
const MAX_RUNS = 40;

let lastOutput = "";

describeFaults("publishers that are killed at random times", () => {
  it("publish one root with a valid file for each user", async () => {
    const { killed, faults } = await reported(publishAndKill());
    expect(killed).to.be.greaterThan(0);
    expect(faults).to.be.greaterThan(0);
  }).timeout(isLarge ? 0 : 1_200_000);
});

/** Publishes and verifies in every round. @throws Error for the first round that fails */
async function publishAndKill() {
  const counts = { killed: 0, failedRuns: 0, faults: 0, reorganizations: 0, lostFiles: 0 };
  for (let round = 1; round <= ROUNDS; round++) {
    const onAnvil = hasAnvil && round % 2 === 0;
    await using running = new AsyncDisposableStack();
    const chain = onAnvil ? await startAnvil() : await startHardhat();
    running.defer(() => chain.close());
    const dir = await mkdtemp(join(tmpdir(), "keyroot-soak-"));
    running.defer(() => rm(dir, { recursive: true, force: true }));
    const filesDir = join(dir, "files");
    await mkdir(filesDir);
    const host = await startFileHost({ dir: filesDir, port: 0 });
    running.defer(() => host.close());
    const endpoint = await startFaultyEndpoint(chain.url, { slowMs: 50 });
    running.defer(() => endpoint.close());

    const call = rpcCaller(chain.url, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
    const [owner = ""] = (await call("eth_accounts", [])) as string[];
    const contract = await deployOn(call, owner);
    // Mine enough blocks, so that reorganizations do not reach the deployment.
    await call("hardhat_mine", ["0x10"]);
    const records = sampleRecords(USERS, round);
    const path = join(dir, "users.jsonl");
    await writeFile(path, records.map((record) => `${serializeKeyRecord(record)}\n`).join(""));
    const args = [endpoint.url, contract, path, filesDir, host.url, join(dir, "plan")];
    endpoint.injectAtRandom({ seed: SEED * 1_000_000 + round, perMille: FAULTS_PER_MILLE });

    let kills = 0;
    for (let run = 1; ; run++) {
      if (run > MAX_RUNS) throw new Error(`Round ${round}: no publisher succeeded in ${MAX_RUNS} runs.\n${lastOutput}`);
      const killAt = kills < MAX_KILLS ? 1 + random(`${round}:${run}:call`, MAX_KILL_CALL) : Infinity;
      const killAfterMs = random(`${round}:${run}:ms`, MAX_KILL_MS);
      const code = await publishOnce(args, (kill) => {
        let calls = 0;
        endpoint.onCall = () => {
          if (++calls === killAt) setTimeout(kill, killAfterMs);
        };
      });
      if (code === "killed") {
        kills++;
        if (onAnvil && random(`${round}:${run}:reorganize`, 4) === 0) {
          counts.reorganizations++;
          await reorganize(call, 1 + random(`${round}:${run}:depth`, 5));
        }
        using journal = await FolderJournal.open(join(dir, "plan"));
        const plan = await journal.readPlan();
        if (random(`${round}:${run}:lose`, 3) === 0 && plan !== undefined) {
          counts.lostFiles++;
          const { batches } = plan;
          const lost = batches[random(`${round}:${run}:file`, batches.length)];
          await rm(join(filesDir, `${lost?.root}.json`), { force: true });
        }
      } else if (code === 0) break;
      else counts.failedRuns++;
    }
    counts.killed += kills;
    counts.faults += endpoint.faults();
    await verifyDeployment({ call, contract, owner, filesDir }, records);
    if (isLarge) process.stderr.write(`\r${round} rounds`);
  }
  return counts;
}

/** Runs a publisher until it ends or is killed. @param arm receives the function that kills it */
async function publishOnce(args: readonly string[], arm: (kill: () => void) => void): Promise<number | "killed"> {
  const child = spawn(process.execPath, [PUBLISHER, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  arm(() => child.kill("SIGKILL"));
  const output = text(child.stderr);
  const [code] = (await once(child, "exit")) as [number | null];
  lastOutput = await output;
  return code ?? "killed";
}

async function startHardhat() {
  const chain = await startLocalChain(hre, { port: 0 });
  return { url: chain.rpcUrl, close: () => chain.close() };
}

/** Returns a whole number from 0 to below the limit. The same seed and label give the same number. */
function random(label: string, limit: number): number {
  return Number.parseInt(sha256(`${SEED}:${label}`).slice(0, 8), 16) % limit;
}
