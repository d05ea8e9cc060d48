/**
 * Counts the rounds of requests and the bytes of a verification with each choice of `trust`, and measures its time if
 * each request takes an additional 100 ms. For comparison, the same run measures viem's `readContract` and a download of
 * the file, without any check.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createVerifier, type KeyRecord, userIDToHex, type VerifierOptions } from "keyroot";
import { createPublicClient, http, parseAbi } from "viem";
import { sampleRecords } from "../test/support/samples.ts";
import { Rounds } from "../test/support/servers/rounds.ts";
import { median, progress, report, round, type Row, SMALL } from "./runner/report.ts";
import { startWorld, type World } from "./rounds/choices.ts";

const USERS_PER_FILE = SMALL ? 2 : 64;
const CONTACTS = SMALL ? 3 : 50;
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
  return fetch(...request);
};

const records = sampleRecords(USERS_PER_FILE * CONTACTS);
progress("publishing");
await using world = await startWorld(records, USERS_PER_FILE);
const { stack, choices } = world;
/** One user of each file. */
const users = records.toSorted((a, b) => (userIDToHex(a.userID) < userIDToHex(b.userID) ? -1 : 1));
const contacts = users.filter((_, i) => i % USERS_PER_FILE === 0);

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

const unchecked = rows.find(({ by }) => by === UNCHECKED)?.["furtherMs"];
const slowest = Math.max(...rows.map(({ furtherMs }) => Number(furtherMs)));
report({
  figures: {
    keys: {
      what: `one key of ${USERS_PER_FILE} per file: rounds of requests; ms with ${DELAY_MS} ms per request, the first time and further times (median of ${FURTHER}); kB of all responses, without compression`,
      rows,
    },
    lists: {
      what: `${list.length} contacts in ${list.length} files, with a new verifier: rounds of requests, ms with ${DELAY_MS} ms per request, kB`,
      rows: lists,
    },
  },
  ratios: [
    {
      what: "rounds of requests of a further verification, with every choice of trust",
      ...{ value: Math.max(...rows.map(({ furtherRounds }) => Number(furtherRounds))), atMost: 2 },
    },
    {
      what: "the slowest choice's ms for a further key, relative to an unchecked read",
      ...{ value: round(slowest / Number(unchecked)), atMost: 1.2 },
    },
  ],
});
