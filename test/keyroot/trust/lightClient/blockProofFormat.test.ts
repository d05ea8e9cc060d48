import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type BlockProof, verifyBlockProof } from "keyroot/light-client";
import { KeyrootError } from "keyroot";
import { MAINNET_SAMPLES, type MainnetSample, splitUpdates } from "../../../support/beacon/mainnet.ts";
import { never, temporaryFolder } from "../../../support/support.ts";
import { isLarge, testAll } from "../../../support/testSize.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const SECOND_VERIFIER = join(ROOT, "scripts/secondVerifier/blockProof.mjs");
const schema = JSON.parse(
  readFileSync(join(ROOT, "packages/keyroot/schemas/block-proof.schema.json"), "utf8"),
) as object;
const isWellFormed = new Ajv2020({ strict: true }).compile(schema);
/** Number of changed proofs. The verification of one proof takes up to 1 s. */
const CHANGES = isLarge ? 400 : 20;

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
/** Creates the proof of the last block in a sample of mainnet responses. */
const proofOf = ({ bootstrapBytes, updatesBytes }: MainnetSample): BlockProof => ({
  ...{ format: "keyroot-block-proof-v1", chainId: 1, bootstrap: base64(bootstrapBytes) },
  updates: splitUpdates(updatesBytes).map(base64),
});

describe("block proofs of mainnet", function () {
  if (isLarge) this.timeout(0);
  const folder = temporaryFolder();
  const [deneb = never(), electra = never()] = MAINNET_SAMPLES;

  /** Returns the block hash that the library finds in a proof, or undefined if the library rejects the proof. */
  const hashOf = async (proof: unknown, { checkpoint }: MainnetSample) => {
    try {
      return (await verifyBlockProof(proof, { chainId: 1, checkpoint, maxCheckpointAgeMs: 2 ** 43 })).blockHash;
    } catch (error) {
      if (error instanceof KeyrootError) return undefined;
      throw error;
    }
  };
  /** Returns the block hashes that the second verifier prints. */
  const secondHashes = async (proofs: readonly unknown[], { checkpoint }: MainnetSample) => {
    const paths = proofs.map((_, i) => join(folder.path, `${i}.json`));
    await Promise.all(paths.map((path, i) => writeFile(path, JSON.stringify(proofs[i]))));
    const args = [SECOND_VERIFIER, checkpoint, ...paths];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 24 }).catch(
      (error: unknown) => {
        // The second verifier exits with code 1 if it rejects a proof.
        if ((error as { code: unknown }).code !== 1) throw error;
        return error as { stdout: string };
      },
    );
    return stdout
      .trim()
      .split("\n")
      .map((line) => (line.startsWith("0x") ? line : undefined));
  };

  for (const sample of testAll ? [deneb, electra] : [electra])
    it(`prove the same block in a second verifier for ${sample.fork}`, async () => {
      const proof = proofOf(sample);
      const hash = await hashOf(proof, sample);
      expect(hash).to.match(/^0x[0-9a-f]{64}$/);
      expect(await secondHashes([proof], sample)).to.deep.equal([hash]);
    });

  it("get the same verdict from both verifiers after random changes", async () => {
    const proof = proofOf(electra);
    const [update = ""] = proof.updates;
    let seed = 1;
    const flipped = (text: string) => {
      const bytes = Buffer.from(text, "base64");
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      // Half of the changes affect the last 1,800 bytes, which are outside the committee.
      const at = seed % 2 === 0 ? seed % bytes.length : bytes.length - 1 - (seed % 1800);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (seed >>> 29)), at);
      return bytes.toString("base64");
    };
    const changed = Array.from({ length: CHANGES }, (_, i) =>
      i % 2 === 0 ? { ...proof, updates: [flipped(update)] } : { ...proof, bootstrap: flipped(proof.bootstrap) },
    );
    const proofs = [
      ...changed,
      ...[[], [update, update], [proof.bootstrap]].map((updates) => ({ ...proof, updates })),
      ...[{ chainId: 10 }, { format: "keyroot-bundle-v1" }, { bootstrap: "!" }, { finalityUpdate: update }].map(
        (change) => ({ ...proof, ...change }),
      ),
    ];
    const hashes = await Promise.all(proofs.map((one) => hashOf(one, electra)));
    expect(await secondHashes(proofs, electra)).to.deep.equal(hashes);
    expect(hashes.filter((hash) => hash === undefined)).to.have.length.above(changed.length / 2);
  });

  it("match the published JSON schema", async () => {
    const proof = proofOf(electra);
    expect(isWellFormed(proof)).to.equal(true);
    const { bootstrap, ...rest } = proof;
    const others = [
      ...[rest, [], null, { ...proof, updates: {} }, { ...proof, updates: [1] }, { ...proof, chainId: "1" }],
      ...[
        { ...proof, bootstrap: "" },
        { ...proof, bootstrap: `${bootstrap}!` },
        { ...proof, format: "x" },
      ],
      ...[{ ...proof, finalityUpdate: null }],
    ];
    for (const other of others) {
      expect(isWellFormed(other), JSON.stringify(other).slice(0, 80)).to.equal(false);
      expect(await hashOf(other, electra)).to.equal(undefined);
    }
  });
});
