/**
 * Measures short proofs with auditors' statements: the bytes of all responses until the first verified key, and for
 * each further key. The benchmark also compares the processor time with the time for whole files. The data has all
 * roots of one million users, and the files of the verified users.
 */
import "keyroot/auditors";
import { createVerifier, userIDToHex } from "keyroot";
import {
  hashRoots,
  type RootEntry,
  RootProofs,
  serializeRootEntry,
  serializeStatement,
} from "keyroot/auditors/protocol";
import { makeLeafChunks, makeMerkleFile, type MerkleFile, parseMerkleFile, serializeMerkleFile } from "keyroot/merkle";
import { signedBy, TestAuditor } from "../test/support/auditors/testAuditor.ts";
import { sampleRecords } from "../test/support/samples.ts";
import { progress, report, round, SMALL } from "./runner/report.ts";

const USERS = SMALL ? 200 : 1_000_000;
const USERS_PER_FILE = SMALL ? 20 : 700;
/** The number of users to verify after the first user. */
const FURTHER = SMALL ? 3 : 200;
/** The number of verifications of each user in the measurement of processor time. */
const RUNS = SMALL ? 1 : 10;
const CONTRACT = `0x${"ab".repeat(20)}`;
const NOW = 1_800_000_000;
const HOSTS = { rpc: "https://rpc.example", files: "https://files.example", statements: "https://statements.example" };

/** Makes the records of one file. The same number always gives the same file. */
const recordsOf = (number: number) =>
  sampleRecords(Math.min(USERS_PER_FILE, USERS - number * USERS_PER_FILE), number + 1);

progress("making all roots");
const count = Math.ceil(USERS / USERS_PER_FILE);
const entries: RootEntry[] = [];
for (let i = 0; i < count; i++) {
  const { tree, records } = makeMerkleFile(recordsOf(i));
  entries.push({ root: tree.root, recordCount: records.length, userCount: records.length });
  if (i % 100 === 99) progress(`${i + 1} of ${count} files`);
}
const numberOf = new Map(entries.map(({ root }, i) => [root, i]));
const files = new Map<string, MerkleFile>();
const fileOf = (root: string): MerkleFile => {
  const file = files.get(root) ?? makeMerkleFile(recordsOf(numberOf.get(root) ?? NaN));
  files.set(root, file);
  return file;
};

const auditors = ["alice.example", "bob.example", "carol.example"].map((name) => new TestAuditor(name));
const statement = serializeStatement({
  ...{ chainId: 1, contract: CONTRACT, block: { number: 25_000_000, hash: `0x${"cd".repeat(32)}` } },
  ...{ userCount: USERS, tree: { size: count, hash: hashRoots(entries.map(serializeRootEntry)) } },
});
const proofs = new RootProofs(entries);

/** The users to verify, who are spread over all files. */
const sample = Array.from({ length: 1 + FURTHER }, (_, i) => {
  const number = Math.floor((i * count) / (1 + FURTHER));
  const records = recordsOf(number);
  const [record] = records.slice((i * 37) % records.length);
  if (record === undefined) throw new Error("A file has no record.");
  return { record, root: entries[number]?.root ?? "" };
});
const rootOf = new Map(sample.map(({ record, root }) => [record.userID, root]));
const idOf = new Map([...rootOf.keys()].map((userID) => [userIDToHex(userID), userID]));

/** The number of bytes in the bodies of all responses. */
let bytes = 0;
/** Returns responses from memory, without a network or streams. */
const fetch: typeof globalThis.fetch = (url, init) => {
  const body = answerTo(url as string, init?.body as string);
  bytes += body.length;
  const answer = { status: 200, headers: new Headers(), arrayBuffer: () => Promise.resolve(body.buffer) };
  return Promise.resolve(answer as unknown as Response);
};

function answerTo(url: string, body: string): Uint8Array<ArrayBuffer> {
  const { origin, pathname } = new URL(url);
  const name = pathname.slice(1);
  const encode = (text: string) => new TextEncoder().encode(text);
  switch (origin) {
    case HOSTS.rpc: {
      const { id, params } = JSON.parse(body) as { id: number; params: [{ data: string }] };
      const root = rootOf.get(idOf.get(params[0].data.slice(10, 50)) ?? "") ?? "";
      const result = `0x${root}${(24_000_000).toString(16).padStart(64, "0")}`;
      return encode(JSON.stringify({ jsonrpc: "2.0", id, result }));
    }
    case HOSTS.files: {
      const [root = "", chunk] = name.split("/");
      return chunksOf(root).get(Number.parseInt(chunk ?? "", 10)) ?? new Uint8Array();
    }
    default: {
      const [, auditor, file = ""] = pathname.split("/");
      if (file === "latest.txt")
        return encode(
          signedBy(
            auditors.filter(({ name }) => name === auditor),
            statement,
            NOW,
          ),
        );
      if (file !== "roots") return encode(proofs.subtrees());
      return encode(proofs.proofOf(numberOf.get(pathname.slice(-68, -4)) ?? NaN));
    }
  }
}

const chunks = new Map<string, Map<number, Uint8Array<ArrayBuffer>>>();
function chunksOf(root: string): Map<number, Uint8Array<ArrayBuffer>> {
  const made =
    chunks.get(root) ?? new Map([...makeLeafChunks(fileOf(root))].map(({ number, bytes }) => [number, bytes.slice()]));
  chunks.set(root, made);
  return made;
}

const verifierWith = (store?: Map<string, string>) =>
  createVerifier({
    ...{ rpc: HOSTS.rpc, chainId: 1, contract: CONTRACT, merkleUrl: HOSTS.files, fetch, now: () => NOW * 1000 },
    auditors: {
      ...{ keys: auditors.map(({ key }) => key), threshold: 2, store },
      urls: auditors.map(({ name }) => `${HOSTS.statements}/${name}`),
    },
    proofs: true,
  });
const verifyWith = async (verifier: ReturnType<typeof verifierWith>, { record }: (typeof sample)[number]) => {
  const { evidence } = await verifier.verify(record.userID, { expectedPublicKey: record.pubKey });
  if (evidence.uniqueness !== "auditors") throw new Error("The whole file was read.");
};
const bytesOf = async (work: () => Promise<void>) => {
  bytes = 0;
  await work();
  return bytes;
};
const cpuMsOf = async (work: () => Promise<void> | void) => {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
};

progress("bytes");
const [first, ...further] = sample;
if (first === undefined) throw new Error("There is no user.");
const verifier = verifierWith();
const bytesOfFirst = await bytesOf(() => verifyWith(verifier, first));
const bytesOfFurther: number[] = [];
for (const user of further) bytesOfFurther.push(await bytesOf(() => verifyWith(verifier, user)));
const mean = bytesOfFurther.reduce((sum, one) => sum + one, 0) / bytesOfFurther.length;
const chunkSizes = [...chunks.values()].flatMap((made) => [...made.values()].map(({ length }) => length));

progress("processor time");
const store = new Map<string, string>();
const firstMs = await cpuMsOf(() => verifyWith(verifierWith(store), first));
const storedMs = await cpuMsOf(() => verifyWith(verifierWith(store), first));
const proofMs = await cpuMsOf(async () => {
  for (let run = 0; run < RUNS; run++) for (const user of further) await verifyWith(verifier, user);
});
const wholeFile = Buffer.from([...serializeMerkleFile(fileOf(first.root))].join(""));
const fileMs = await cpuMsOf(() => {
  for (let run = 0; run < RUNS * 10; run++) parseMerkleFile(wholeFile, first.root);
});
const [perProof, perFile] = [proofMs / (RUNS * further.length), fileMs / (RUNS * 10)];

report({
  figures: {
    bytes: {
      what: `bytes of all answers' bodies, ${USERS} users in ${count} files, three auditors of whom two must agree`,
      rows: [
        { what: "first key", bytes: bytesOfFirst },
        { what: "each further key, mean", bytes: round(mean) },
        { what: "each further key, at most", bytes: Math.max(...bytesOfFurther) },
        { what: "leaf chunk, at most", bytes: Math.max(...chunkSizes) },
        { what: "leaf chunks of a file, mean", bytes: round(chunkSizes.reduce((a, b) => a + b, 0) / chunks.size) },
        { what: "whole file", bytes: wholeFile.length },
      ],
    },
    time: {
      what: "ms of processor time in Node",
      rows: [
        { what: "first key, cold, with signatures", ms: round(firstMs) },
        { what: "first key of a verifier with a stored statement", ms: round(storedMs) },
        { what: "each further key", ms: round(perProof) },
        { what: "parsing and rebuilding the whole file", ms: round(perFile) },
      ],
    },
  },
  ratios: [
    { what: "kB until the first verified key", value: round(bytesOfFirst / 1000), atMost: 12 },
    { what: "kB for each further key, at most", value: round(Math.max(...bytesOfFurther) / 1000), atMost: 3 },
    {
      what: "processor time of a further key, relative to the whole file",
      value: round(perProof / perFile),
      atMost: 0.1,
    },
  ],
});
