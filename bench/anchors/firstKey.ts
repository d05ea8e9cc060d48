import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import hre from "hardhat";
import { TEST_CHECKPOINT } from "@keyroot/operator/testing";
import { startStack } from "@keyroot/service/stack";
import { bundle } from "../../test/support/browser/bundle.ts";
import { openPage } from "../../test/support/browser/openPage.ts";
import { publishLocally } from "../../test/support/chain/local.ts";
import { sampleRecords } from "../../test/support/samples.ts";
import { median, round, type Row } from "../runner/report.ts";

/** Verifies a key, starting from a checkpoint, and counts the received bytes. */
const VERIFY = `
import { lightClient } from "keyroot/light-client";
import { ANY_KEY, createVerifier } from "keyroot";

const verify = async (userID, { beacon, ...options }) => {
  let bytes = 0;
  const fetch = async (...args) => {
    const response = await globalThis.fetch(...args);
    const body = new Uint8Array(await response.arrayBuffer());
    bytes += body.length;
    return new Response(body, response);
  };
  await createVerifier({ ...options, trust: lightClient(beacon), fetch }).verify(userID, { expectedPublicKey: ANY_KEY });
  return { ms: performance.now(), bytes };
};
`;

interface FirstKey {
  ms: number;
  bytes: number;
}

/**
 * Measures the time from the start of a process or page until a light client has verified its first key. The light
 * client has no saved state, and the key is in a file of 700 users. The local chain's simulated beacon chain has a few
 * committee periods.
 */
export async function measureFirstKey(users: number, runs: number): Promise<Row[]> {
  await using cleanup = new AsyncDisposableStack();
  const stack = await startStack(hre, { ports: { chain: 0, files: 0, beacon: 0 } });
  cleanup.defer(() => stack.close());
  const { rpcUrl: rpc, chainId, contract, merkleUrl, beaconUrl } = stack;
  const records = sampleRecords(users);
  await publishLocally(stack, records);
  const options = { rpc, chainId, contract, merkleUrl, beacon: { urls: [beaconUrl], checkpoint: TEST_CHECKPOINT } };
  const args = `${JSON.stringify(records[0]?.userID)}, ${JSON.stringify(options)}`;

  const program = `${VERIFY}\nconsole.log(JSON.stringify(await verify(${args})));`;
  const inNode = async (): Promise<FirstKey> => {
    // Do not block this process, because the stack runs in it.
    const words = ["--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: import.meta.dirname });
    return JSON.parse(stdout) as FirstKey;
  };
  const app = await bundle(`${VERIFY}\nglobalThis.verifyFirst = verify;`, {}, import.meta.dirname);
  const page = await openPage(app, [rpc, merkleUrl, beaconUrl ?? ""]);
  cleanup.defer(() => page.close());
  const inChromium = async (): Promise<FirstKey> => {
    await page.reload();
    return page.evaluate(`verifyFirst(${args})`);
  };
  const code = [...app.chunks.values()].reduce((sum, chunk) => sum + gzipSync(chunk).length, 0);
  const rows: Row[] = [];
  for (const [where, run] of Object.entries({ Node: inNode, Chromium: inChromium })) {
    const found: FirstKey[] = [];
    // The first run does not count, because the first run also creates the simulated chain's committees.
    for (let i = 0; i <= runs; i++) found.push(await run());
    const ms = round(median(found.slice(1).map((one) => one.ms)));
    rows.push({ where, ms, receivedBytes: found[0]?.bytes ?? NaN, codeBytesGzipped: code });
  }
  return rows;
}
