/**
 * Measures Ethereum's light client with real periods of mainnet and simulated ones. It compares one finality update with
 * one BLS verification, the least work of any light client.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  applyUpdate,
  BEACON_NETWORKS,
  type BeaconNetwork,
  type Bootstrap,
  FORKS,
  type LightClientState,
  periodOf,
  rootOf,
  startAt,
  TEST_NETWORK,
  type Update,
} from "keyroot/beacon/protocol";
import { simulateBootstrap, simulateUpdate } from "@keyroot/operator/testing";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { median, progress, report, round, type Row, SMALL } from "./runner/report.ts";

const DATA = fileURLToPath(new URL("../test/keyroot/blocks/beacon/data/", import.meta.url));
const SIMULATED_PERIODS = SMALL ? [1] : [1, 14, 46];
const RUNS = SMALL ? 1 : 15;
/** A slot later than all recorded data. */
const LATER = 2 ** 40;

const { layouts } = FORKS.deneb;
const { layouts: layoutsOfTest } = FORKS.fulu;
const timeOf = (work: () => void): number => {
  const start = performance.now();
  work();
  return performance.now() - start;
};
const medianOf = (work: () => void) => median(Array.from({ length: RUNS }, () => timeOf(work)));

/** Verifies a chain's bootstrap and all its updates, from bytes. */
function followAll(network: BeaconNetwork, bootstrap: Uint8Array, updates: readonly Uint8Array[], types = layouts) {
  const start: Bootstrap = types.bootstrap.decode(bootstrap);
  let state: LightClientState = startAt(network, `0x${Buffer.from(rootOf(start.header)).toString("hex")}`, start);
  for (const bytes of updates) {
    const next = applyUpdate(network, state, types.update.decode(bytes), LATER);
    if (next === undefined) throw new Error("An update contains nothing new.");
    state = next;
  }
  return state;
}

function splitUpdates(answer: Buffer): Uint8Array[] {
  const items: Uint8Array[] = [];
  for (let rest = answer; rest.length > 0;) {
    const end = 8 + Number(rest.readBigUInt64LE());
    items.push(rest.subarray(12, end));
    rest = rest.subarray(end);
  }
  return items;
}

function simulate(periods: number): { bootstrap: Uint8Array; updates: Uint8Array[] } {
  const slots = TEST_NETWORK.slotsPerEpoch * TEST_NETWORK.epochsPerPeriod;
  const hash = `0x${"b".repeat(64)}`;
  const updates = Array.from({ length: periods }, (_, i): Uint8Array => {
    const finalizedSlot = i * slots + slots / 2;
    const parts = { finalizedSlot, attestedSlot: finalizedSlot + 1, signatureSlot: finalizedSlot + 2 };
    const update: Update = simulateUpdate(TEST_NETWORK, { ...parts, blockHash: hash, next: true, participation: 500 });
    return layoutsOfTest.update.encode(update);
  });
  return { bootstrap: layoutsOfTest.bootstrap.encode(simulateBootstrap(TEST_NETWORK, 10, hash)), updates };
}

progress("mainnet");
const bootstrap = readFileSync(`${DATA}bootstrap-1347.ssz`);
const updates = splitUpdates(readFileSync(`${DATA}updates-1347-6.ssz`));
const { mainnet } = BEACON_NETWORKS;
followAll(mainnet, bootstrap, updates);
const rows: Row[] = [
  {
    ...{ periods: updates.length, data: "mainnet" },
    ms: round(medianOf(() => followAll(mainnet, bootstrap, updates))),
    bytes: bootstrap.length + updates.reduce((sum, { length }) => sum + length, 0),
  },
];

for (const periods of SIMULATED_PERIODS) {
  progress(`${periods} simulated periods`);
  const simulated = simulate(periods);
  rows.push({
    ...{ periods, data: "simulated, 500 of 512 sign" },
    ms: round(timeOf(() => followAll(TEST_NETWORK, simulated.bootstrap, simulated.updates, layoutsOfTest))),
    bytes: simulated.bootstrap.length + simulated.updates.reduce((sum, { length }) => sum + length, 0),
  });
}

progress("one finality update");
const before = followAll(mainnet, bootstrap, updates.slice(0, -1));
const [last = new Uint8Array()] = updates.slice(-1);
const finality = layouts.finality_update.encode(layouts.update.decode(last));
const ofUpdate = medianOf(() => {
  const update = layouts.finality_update.decode(finality);
  if (applyUpdate(mainnet, before, update, LATER)?.participation !== 511) throw new Error("The update is refused.");
});

const bls = bls12_381.longSignatures;
const { secretKey, publicKey } = bls.keygen();
const signature = bls.sign(bls.hash(new Uint8Array(32)), secretKey).toBytes();
const keyBytes = publicKey.toBytes();
const ofVerification = medianOf(() => {
  const key = bls12_381.G1.Point.fromBytes(keyBytes);
  if (!bls.verify(bls.Signature.fromBytes(signature), bls.hash(new Uint8Array(32)), key))
    throw new Error("The signature is refused.");
});

/** A day with a check each hour: 24 finality updates, and the update of a period of 27 hours. */
const periodsPerDay = 7200 / (mainnet.slotsPerEpoch * mainnet.epochsPerPeriod);
const bytesPerDay = 24 * finality.length + periodsPerDay * (last.length + 12);
if (periodOf(mainnet, before.slot) < 1347) throw new Error("The data is of another period.");

report({
  figures: {
    periods: { what: "ms to verify a bootstrap and updates in Node, warm; bytes of SSZ", rows },
    update: {
      what: "ms in Node, warm: median",
      rows: [
        { what: "one finality update", ms: round(ofUpdate) },
        { what: "one BLS verification alone, with its key, signature and hash", ms: round(ofVerification) },
      ],
    },
  },
  ratios: [
    {
      what: "one finality update, relative to one BLS verification",
      value: round(ofUpdate / ofVerification),
      atMost: 1.5,
    },
    { what: "kB for a day with a check each hour", value: round(bytesPerDay / 1000), atMost: 80 },
  ],
});
