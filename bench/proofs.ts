/**
 * Measures the size of a Merkle proof and of a bundle, and the time to verify their bytes. They are of one user in a batch
 * of 700; the bundles' storage proofs are as deep as on a young chain and as on mainnet.
 *
 * `npm run bench:proofs` prints the figures and writes them to bench/proofs.json.
 */
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { isDeepStrictEqual } from "node:util";
import type { KeyRecord } from "keyroot/identity";
import { makeMerkleFile, makeProof, verifyProof } from "keyroot/merkle";
import { verifyBundle } from "keyroot/bundle";
import { sampleRecords } from "../fixtures/samples.ts";
import { CODE_HASH, CONTRACT, plainBundle } from "../fixtures/plainBundle.ts";

const USERS = 700;
const RUNS = 2000;
const WARM_UP = 500;
/** How many full branch nodes are above the account, and above its storage slot. 8 levels hold 4.3 billion entries. */
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
  what: `one user of a batch of ${USERS}: ms to verify, warm, ${RUNS} runs`,
  proof: { bytes: proofBytes.length, ...(await measure(() => verifyProof(proofBytes, { userID, root }))) },
  bundle: { young: await measureBundle(...DEPTHS.young), mainnet: await measureBundle(...DEPTHS.mainnet) },
};
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
writeFileSync(new URL("proofs.json", import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);

async function measureBundle(accountDepth: number, storageDepth: number) {
  const { bundle, blockHash } = plainBundle(proof, { accountDepth, storageDepth });
  const bytes = encode(bundle);
  const query = { userID, chainId: 1, contract: CONTRACT, codeHash: CODE_HASH };
  const times = await measure(() => verifyBundle(bytes, query, { blockHash }));
  return { accountDepth, storageDepth, bytes: bytes.length, ...times };
}

async function measure(verify: () => Promise<{ record: KeyRecord }> | { record: KeyRecord }) {
  const { record } = await verify();
  if (!isDeepStrictEqual(record, file.records[0])) throw new Error("The sample does not verify.");
  const times: number[] = [];
  for (let i = 0; i < WARM_UP + RUNS; i++) {
    const start = performance.now();
    await verify();
    times.push(performance.now() - start);
  }
  const sorted = times.slice(WARM_UP).sort((a, b) => a - b);
  const at = (share: number) => Math.round((sorted[Math.floor(RUNS * share)] ?? NaN) * 1000) / 1000;
  return { median: at(0.5), p99: at(0.99) };
}
