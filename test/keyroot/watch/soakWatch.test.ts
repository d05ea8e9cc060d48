/**
 * Runs an app's watch over an honest but faulty network. Requests time out, fail, exceed rate limits, reach nodes that
 * are behind, or receive only a part of the response. The device is offline or asleep, and the app ends during a round.
 * The watch must not raise an alarm.
 *
 * Then false answers in the same network must raise alarms. At the end, processes that have a store in a folder are
 * killed with SIGKILL.
 *
 * `FAULTS=large npm test -- test/keyroot/watch/soakWatch.test.ts` runs 10,000 rounds, with reorganizations of the
 * chain. `FAULTS_SEED=2` selects different faults.
 */
import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { hasAnvil, startAnvil } from "../../support/anvil/anvil.ts";
import { reorganize } from "../../support/anvil/anvilControl.ts";
import { sampleRecords, sha256 } from "../../support/samples.ts";
import { soakWatch } from "../../support/watch/soakWatch.ts";
import { ANVIL_OPTIONS, startWatchedChain, type WatchedChain } from "../../support/watch/watchedChain.ts";
import type { ProcessOptions } from "../../support/watch/watchUntilKilled.ts";
import { reported, SEED } from "../../support/faults.ts";
import { isLarge, testAll } from "../../support/testSize.ts";
import { startHardhat } from "../../support/chain/freshRegistry.ts";

/** False for Hardhat's chain, which cannot be reorganized. */
const canReorganize = isLarge && hasAnvil;
const ROUNDS = isLarge ? 10_000 : 60;
const APP = fileURLToPath(new URL("../../support/watch/watchUntilKilled.ts", import.meta.url));
const PROCESS_KILLS = isLarge ? 40 : testAll ? 4 : 2;
/** Maximum lifetime of a process in ms. A process starts in about 500 ms. */
const MAX_LIFE_MS = 2000;

describe("watch over a faulty network", function () {
  if (isLarge) this.timeout(0);
  let chain: WatchedChain;
  before(async () => {
    chain = await startWatchedChain(canReorganize ? await startAnvil(...ANVIL_OPTIONS) : await startHardhat());
  });
  after(() => chain.close());

  it("raises an alarm only for a false answer", async () => {
    const soaking = soakWatch(chain, {
      rounds: ROUNDS,
      seed: SEED,
      reorganize: canReorganize ? () => reorganize(chain.call, 7) : undefined,
    });
    const { alarms, lies, detected, faults } = await reported(soaking);
    expect(alarms, `FAULTS_SEED=${SEED}`).to.deep.equal([]);
    expect(faults).to.be.greaterThan(0);
    expect(detected, `FAULTS_SEED=${SEED}`).to.equal(lies);
  });

  it("raises no alarm after its process is killed and started again", async () => {
    const { rounds, alarms } = await reported(killProcesses(chain));
    expect(alarms).to.equal(0);
    if (isLarge) expect(rounds).to.be.greaterThan(0);
  });
});

/** Kills the process of an app repeatedly at random moments, and starts it again with the same store. */
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
