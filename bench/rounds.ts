/**
 * Counts the rounds of requests and the bytes of a verification with each choice of `trust`. It also measures how long
 * the verification takes if each request takes an additional 100 ms. For comparison, the same run measures viem's
 * `readContract` and a download of the file without any check. It also counts the bytes per hour of a watch of 200
 * contacts.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createVerifier, type KeyRecord, userIDToHex, type VerifierOptions } from "keyroot";
import { createPublicClient, http, parseAbi } from "viem";
import { sampleRecords } from "../test/support/samples.ts";
import { fetchCompressed, Rounds } from "../test/support/servers/rounds.ts";
import { median, progress, report, round, type Row, SMALL } from "./runner/report.ts";
import { startWorld, type World } from "./rounds/choices.ts";
import { bytesPerHour } from "./rounds/watchHour.ts";

const USERS_PER_FILE = SMALL ? 2 : 64;
const CONTACTS = SMALL ? 3 : 50;
/** The contacts of the watch, two in each file. */
const WATCHED = SMALL ? 3 : 200;
/** The number of further verifications of which the run takes the median. */
const FURTHER = SMALL ? 1 : 7;
const DELAY_MS = SMALL ? 1 : 100;
const ABI = parseAbi(["function getMerkleTreeRoot(bytes20) view returns (bytes32)"]);
/** The name of the comparison in the table. */
const UNCHECKED = "readContract of viem and a download, unchecked";

type Fetch = typeof globalThis.fetch;
/** Reads a key in one way, with all requests through `fetch`. */
type Read = (record: KeyRecord) => Promise<unknown>;

const delayed: Fetch = async (...request) => {
  await sleep(DELAY_MS);
  return fetchCompressed(...request);
};

const records = sampleRecords((USERS_PER_FILE * (WATCHED + 2)) / 2);
progress("publishing");
await using world = await startWorld(records, USERS_PER_FILE);
const { stack, choices } = world;
/** One user of each file. */
const users = records.toSorted((a, b) => (userIDToHex(a.userID) < userIDToHex(b.userID) ? -1 : 1));
const watched = users.filter((_, i) => i % (USERS_PER_FILE / 2) === 0).slice(0, WATCHED + 1);
const contacts = users.filter((_, i) => i % USERS_PER_FILE === 0).slice(0, CONTACTS);

function optionsOf(choice: World["choices"][string], fetch: Fetch): VerifierOptions {
  const { rpcUrl: rpc, chainId, contract, merkleUrl } = stack;
  return { rpc, chainId, contract, merkleUrl, fetch, ...choice() };
}

/** The ways to read a key, by name. */
const ways: Record<string, (fetch: Fetch) => Read> = {
  [UNCHECKED]: (fetch) => {
    const client = createPublicClient({ transport: http(stack.rpcUrl, { fetchFn: fetch, retryCount: 0 }) });
    return async ({ userID }) => {
      const args = [`0x${userIDToHex(userID)}`] as const;
      const address = stack.contract as `0x${string}`;
      const root = await client.readContract({ address, abi: ABI, functionName: "getMerkleTreeRoot", args });
      return (await (await fetch(`${stack.merkleUrl}/${root.slice(2)}.json`)).json()) as unknown;
    };
  },
};
for (const [name, choice] of Object.entries(choices))
  ways[name] = (fetch) => {
    const verifier = createVerifier(optionsOf(choice, fetch));
    return ({ userID, pubKey }) => verifier.verify(userID, { expectedPublicKey: pubKey });
  };

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const rows: Row[] = [];
for (const [by, open] of Object.entries(ways)) {
  progress(by);
  const [first, ...others] = [...users, ...users];
  if (first === undefined) throw new Error("There are no users.");
  // Loads the code.
  await open(fetch)(first);
  const rounds = new Rounds();
  const counted = open(rounds.fetch);
  await counted(first);
  const firstRounds = rounds.sent.length;
  rounds.reset();
  for (const user of others.slice(0, 1)) await counted(user);
  const timed = open(delayed);
  const firstMs = await timeOf(() => timed(first));
  const times: number[] = [];
  for (const user of others.slice(0, FURTHER)) times.push(await timeOf(() => timed(user)));
  rows.push({
    ...{ by, firstRounds, furtherRounds: rounds.sent.length },
    ...{ firstMs: round(firstMs), furtherMs: round(median(times)), furtherKB: round(rounds.bytes / 1000) },
  });
}

progress("contact list");
const list = contacts.map(({ userID, pubKey }) => ({ userID, expectedPublicKey: pubKey }));
const lists: Row[] = [];
for (const [by, choice] of Object.entries(choices)) {
  const verifyList = async (fetch: Fetch) => {
    const outcomes = await createVerifier(optionsOf(choice, fetch)).verifyMany(list);
    for (const outcome of outcomes) if ("error" in outcome) throw outcome.error;
  };
  await verifyList(fetch);
  const rounds = new Rounds();
  await verifyList(rounds.fetch);
  const ms = await timeOf(() => verifyList(delayed));
  lists.push({ by, rounds: rounds.sent.length, ms: round(ms), kB: round(rounds.bytes / 1000) });
}

progress("watch");
const hours: Row[] = [];
for (const [by, choice] of Object.entries(choices)) {
  // A watch cannot read a pinned block.
  if (by === "pinnedBlock") continue;
  const { first, following } = await bytesPerHour((fetch) => optionsOf(choice, fetch), watched);
  hours.push({ by, firstKB: round(first / 1000), followingKB: round(following / 1000) });
}

/** The largest value of a column, in the rows of some choices of trust. */
const most = (rows: readonly Row[], column: string) => Math.max(...rows.map((row) => Number(row[column])));
const rowsOf = (name: string) => rows.filter(({ by }) => by === name);
const choicesOnly = rows.filter(({ by }) => by !== UNCHECKED);
const slowest = most(choicesOnly, "furtherMs");
report({
  figures: {
    keys: {
      what: `one key of ${USERS_PER_FILE} per file: rounds of requests; ms with ${DELAY_MS} ms per request, the first time and further times (median of ${FURTHER}); kB of all responses`,
      rows,
    },
    lists: {
      what: `${list.length} contacts in ${list.length} files, with a new verifier: rounds of requests, ms with ${DELAY_MS} ms per request, kB`,
      rows: lists,
    },
    watch: {
      what: `a watch of ${WATCHED} contacts, two in each file: kB of all responses without headers in the first hour, and in each following hour`,
      rows: hours,
    },
  },
  ratios: [
    {
      what: "rounds of requests of a further verification, with every choice of trust",
      ...{ value: most(choicesOnly, "furtherRounds"), atMost: 2 },
    },
    {
      what: "the slowest choice's ms for a further key, relative to an unchecked read",
      ...{ value: round(slowest / most(rowsOf(UNCHECKED), "furtherMs")), atMost: 1.2 },
    },
    { what: "ms for a further key with one endpoint", value: most(rowsOf("oneEndpoint"), "furtherMs"), atMost: 220 },
    { what: "ms for a further key with the slowest choice", value: slowest, atMost: 240 },
    { what: "ms for the first key with the light client", value: most(rowsOf("lightClient"), "firstMs"), atMost: 600 },
    { what: "kB for a further key with the light client", value: most(rowsOf("lightClient"), "furtherKB"), atMost: 20 },
    {
      what: `ms for a list of ${list.length} contacts with the slowest choice`,
      ...{ value: most(lists, "ms"), atMost: 800 },
    },
    {
      what: `kB per hour of a watch of ${WATCHED} contacts with the choice of trust that reads the most`,
      ...{ value: most(hours, "followingKB"), atMost: 1000 },
    },
  ],
});
