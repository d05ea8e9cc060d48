/**
 * What a compact proof and a bundle cost to check, and how large they are: of one user in a batch of 700, bundles with
 * tries as deep as a young chain's and as mainnet's. What is checked is bytes, as they were served.
 *
 * `npm run bench:proofs` prints and records the figures in bench/proofs.json.
 */
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { isDeepStrictEqual } from "node:util";
import type { KeyRecord } from "keyroot/identity";
import { makeMerkleFile } from "keyroot/merkle";
import { verifyProof, makeProof } from "keyroot/merkle";
import { verifyBundle } from "keyroot/verifier";
import { sampleRecords } from "../fixtures/samples.ts";
import { CODE_HASH, CONTRACT, plainBundle } from "../fixtures/plainBundle.ts";

const USERS = 700;
const RUNS = 2000;
const WARM_UP = 500;
/** How many full branches stand above the account, and above its storage slot; 8 hold 4.3 billion entries. */
const DEPTHS = { young: [1, 3], mainnet: [8, 8] } as const;

const file = makeMerkleFile(sampleRecords(USERS));
const [{ userID }] = file.records as [KeyRecord];
const { root } = file.tree;
const proof = makeProof(file, userID);
const encode = (content: object) => new TextEncoder().encode(JSON.stringify(content));

const proofBytes = encode(proof);
const figures = {
  machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`,
  command: "npm run bench:proofs",
  what: `one user of a batch of ${USERS}; ms, warm, of ${RUNS} runs`,
  proof: { bytes: proofBytes.length, ...(await measure(() => verifyProof(proofBytes, { userID, root }))) },
  bundle: { young: await measureBundle(...DEPTHS.young), mainnet: await measureBundle(...DEPTHS.mainnet) },
};
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
writeFileSync(new URL("proofs.json", import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);

async function measureBundle(accountDepth: number, storageDepth: number) {
  const { bundle, blockHash } = plainBundle(proof, { accountDepth, storageDepth });
  const bytes = encode(bundle);
  const question = { userID, chainId: 1, contract: CONTRACT, codeHash: CODE_HASH };
  const times = await measure(() => verifyBundle(bytes, question, { blockHash }));
  return { accountDepth, storageDepth, bytes: bytes.length, ...times };
}

async function measure(check: () => Promise<{ record: KeyRecord }> | { record: KeyRecord }) {
  const { record } = await check();
  if (!isDeepStrictEqual(record, file.records[0])) throw new Error("It does not verify.");
  const times: number[] = [];
  for (let i = 0; i < WARM_UP + RUNS; i++) {
    const start = performance.now();
    await check();
    times.push(performance.now() - start);
  }
  const sorted = times.slice(WARM_UP).sort((a, b) => a - b);
  const at = (share: number) => Math.round((sorted[Math.floor(RUNS * share)] ?? NaN) * 1000) / 1000;
  return { median: at(0.5), p99: at(0.99) };
}
