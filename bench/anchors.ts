/**
 * Measures the light client for Ethereum in Node and Chromium, with real and simulated periods of mainnet. It also
 * measures the time and bytes until the first verified key.
 *
 * For comparison, it measures a single finality update, and a single BLS verification, which is the least work of any
 * light client. The results also contain Lodestar's time for the same data, and the sizes of the npm packages of
 * Lodestar, Helios and Colibri.
 */
import { BEACON_NETWORKS, FORKS, TEST_NETWORK, type Update } from "keyroot/internal/lightClient";
import { simulateBootstrap, simulateUpdate } from "@keyroot/operator/testing";
import { measureFirstKey } from "./anchors/firstKey.ts";
import { measureInChromium } from "./anchors/inChromium.ts";
import { measurePeers, type Peers } from "./anchors/peers.ts";
import { blsWork, bytesOf, type ChainData, finalityWork, followAll, timesOf } from "./anchors/work.ts";
import { median, progress, report, round, type Row, SMALL } from "./runner/report.ts";
import { MAINNET_SAMPLES, splitUpdates } from "../test/support/beacon/mainnet.ts";
import { never } from "../test/support/support.ts";

const SIMULATED_PERIODS = SMALL ? [1] : [1, 14, 46];
const RUNS = SMALL ? 1 : 15;
const FIRST_KEY_RUNS = SMALL ? 1 : 5;
/** The number of runs with Lodestar, which is small because each run takes seconds. */
const PEER_RUNS = 3;
const USERS = SMALL ? 25 : 700;

const { mainnet } = BEACON_NETWORKS;
const { layouts: layoutsOfTest } = FORKS.fulu;
const medianOf = (work: () => unknown) => round(median(timesOf(RUNS, work)));

function simulate(periods: number): ChainData {
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
const [{ bootstrapBytes, updatesBytes } = never()] = MAINNET_SAMPLES;
const real: ChainData = { bootstrap: bootstrapBytes, updates: splitUpdates(updatesBytes) };
const { slot } = followAll(real);
const six = medianOf(() => followAll(real));
const rows: Row[] = [{ periods: real.updates.length, data: "mainnet", ms: six, bytes: bytesOf(real) }];

for (const periods of SIMULATED_PERIODS) {
  progress(`${periods} simulated periods`);
  const simulated = simulate(periods);
  const [ms = NaN] = timesOf(1, () => followAll(simulated, TEST_NETWORK, layoutsOfTest));
  rows.push({ periods, data: "simulated, 500 of 512 sign", ms: round(ms), bytes: bytesOf(simulated) });
}

progress("one finality update");
const { finality, work } = finalityWork(real);
const ofUpdate = medianOf(work);
const ofVerification = medianOf(blsWork());

/**
 * The number of periods per day. A period lasts about 27 hours. An app that checks every hour loads 24 finality updates
 * per day, and one update for each new period.
 */
const periodsPerDay = 7200 / (mainnet.slotsPerEpoch * mainnet.epochsPerPeriod);
const [last = new Uint8Array()] = real.updates.slice(-1);
const bytesPerDay = 24 * finality.length + periodsPerDay * (last.length + 12);

progress("Chromium");
const chromium = await measureInChromium(real, RUNS);
progress("the first key");
const firstKey = await measureFirstKey(USERS, FIRST_KEY_RUNS);

let peers: Peers | undefined;
// A run with small data skips this part, because this part downloads 63 MB.
if (!SMALL) {
  progress("Lodestar, Helios, Colibri");
  peers = await measurePeers(real, PEER_RUNS);
  if (peers.lodestar.slot !== slot) throw new Error("Lodestar ended at another block.");
}

report({
  figures: {
    periods: { what: "ms to verify a bootstrap and updates in Node, warm; bytes of SSZ", rows },
    update: {
      what: "ms in Node, warm: median",
      rows: [
        { what: "one finality update", ms: ofUpdate },
        { what: "one BLS verification alone, with its key, signature and hash", ms: ofVerification },
      ],
    },
    chromium: { what: "ms in Chromium, warm: median", rows: chromium },
    firstKey: {
      what: `ms from the start of a process or page to the first verified key of ${USERS}, without a stored state, on a simulated chain; bytes of all answers, without compression; bytes of the code with gzip`,
      rows: firstKey,
    },
    ...(peers && {
      lodestar: {
        what: `ms of ${peers.lodestar.version} of Lodestar's light client on the same data in Node, with ${peers.lodestar.implementation} (WebAssembly) for BLS: median of ${PEER_RUNS}`,
        rows: [
          { what: `${real.updates.length} periods of mainnet`, ms: peers.lodestar.all, keyrootMs: six },
          { what: "one more update of a known committee", ms: peers.lodestar.one, keyrootMs: ofUpdate },
        ],
      },
      sizes: { what: "bytes of the code with gzip", rows: peers.sizes },
    }),
  },
  ratios: [
    {
      what: "one finality update, relative to one BLS verification",
      value: round(ofUpdate / ofVerification),
      atMost: 1.5,
    },
    { what: "kB for a day with a check each hour", value: round(bytesPerDay / 1000), atMost: 80 },
    ...(peers === undefined
      ? []
      : [
          {
            what: "Lodestar's time for six periods, relative to Keyroot's",
            ...{ value: round(peers.lodestar.all / six), atLeast: 1 },
          },
          {
            what: "Lodestar's time for one more update of a known committee, relative to Keyroot's",
            ...{ value: round(peers.lodestar.one / ofUpdate), atLeast: 1 },
          },
          {
            what: "code of verifier and light client, relative to the smallest of Lodestar, Helios and Colibri",
            ...{ value: relativeSize(peers.sizes), atMost: 1 },
          },
        ]),
  ],
});

function relativeSize(sizes: readonly Row[]): number {
  const [own = NaN, ...others] = sizes.map((row) => Number(row["gzippedBytes"]));
  return round(own / Math.min(...others));
}
