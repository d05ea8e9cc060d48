import { expect } from "chai";
import { makeBlockProof, verifyBlockProof } from "keyroot/light-client";
import { TEST_NETWORK } from "keyroot/internal/lightClient";
import { makeBundle, verifyBundle } from "keyroot/bundle";
import { SimulatedBeacon, TEST_CHECKPOINT } from "@keyroot/operator/testing";
import type { Listening } from "@keyroot/operator/shared";
import type { BlockProof } from "../../../../packages/keyroot/src/trust/lightClient/blockProof.ts";
import { type KeyrootError, pinnedBlock } from "keyroot";
import { describeOnChains, mine, userID } from "../../../support/chain/fiveEndpoints.ts";
import { failure } from "../../../support/support.ts";

describeOnChains("block proof", (chain) => {
  const trusted = { chainId: TEST_NETWORK.chainId, checkpoint: TEST_CHECKPOINT };
  let server: Listening;
  let proof: BlockProof;

  before(async () => {
    server = await new SimulatedBeacon({ call: chain.call }).listen();
    ({ proof } = await makeBlockProof({ ...trusted, urls: [server.url] }));
    await server.close();
  });

  const codeOf = async (promise: Promise<unknown>) => ((await failure(promise)) as KeyrootError).code;
  const flipped = (text: string) => {
    const bytes = Buffer.from(text, "base64");
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
    return bytes.toString("base64");
  };

  it("contains the updates from the checkpoint to the block", () => {
    expect(proof.updates).to.have.length.of.at.least(2);
    expect(proof).to.have.property("finalityUpdate");
  });

  it("proves a bundle's block offline", async () => {
    const bytes = Buffer.from(JSON.stringify(proof));
    const { blockHash, details } = await verifyBlockProof(bytes, trusted);
    expect(details).to.include({ checkpoint: TEST_CHECKPOINT, participation: 512 });
    const { chainId, contract } = chain;
    const { bundle } = await makeBundle(userID, { ...chain.place(), trust: pinnedBlock(blockHash) });
    const verified = await verifyBundle(bundle, {
      userID,
      chainId,
      contract,
      expectedPublicKey: mine.pubKey,
      trust: pinnedBlock(blockHash),
    });
    expect(verified.record).to.deep.equal(mine);
  });

  it("is rejected if the checkpoint is newer than the block", async () => {
    const newer = `0x${"7".repeat(64)}`;
    const error = (await failure(verifyBlockProof(proof, { ...trusted, checkpoint: newer }))) as KeyrootError;
    expect(error.code).to.equal("LIGHT_CLIENT_INVALID");
    expect(error.message).to.include(newer).and.include(TEST_CHECKPOINT).and.include("newer than the block");
  });

  it("is rejected if its checkpoint is older than the reader allows", async () => {
    const now = () => Date.now() + TEST_NETWORK.maxCheckpointAgeMs;
    expect(await codeOf(verifyBlockProof(proof, { ...trusted, now }))).to.equal("CHECKPOINT_TOO_OLD");
    const maxCheckpointAgeMs = 2 * TEST_NETWORK.maxCheckpointAgeMs;
    const { details } = await verifyBlockProof(proof, { ...trusted, now, maxCheckpointAgeMs });
    expect(details).to.include({ maxCheckpointAgeMs });
  });

  const forgeries: Record<string, [change: (proof: BlockProof) => unknown, code: string]> = {
    "a changed bootstrap": [(it) => ({ ...it, bootstrap: flipped(it.bootstrap) }), "LIGHT_CLIENT_INVALID"],
    "a changed update": [(it) => ({ ...it, updates: it.updates.map(flipped) }), "LIGHT_CLIENT_INVALID"],
    "a changed last update": [
      (it) => ({ ...it, finalityUpdate: flipped(it.finalityUpdate ?? "") }),
      "LIGHT_CLIENT_INVALID",
    ],
    "a missing update": [(it) => ({ ...it, updates: it.updates.slice(1) }), "LIGHT_CLIENT_INVALID"],
    "a repeated update": [(it) => ({ ...it, updates: it.updates.flatMap((one) => [one, one]) }), "BUNDLE_SHAPE"],
    "another chain": [(it) => ({ ...it, chainId: 1 }), "CHAIN_ID_MISMATCH"],
    "another format": [(it) => ({ ...it, format: "keyroot-bundle-v1" }), "BUNDLE_SHAPE"],
    "text that is not base64": [(it) => ({ ...it, bootstrap: "!" }), "BUNDLE_SHAPE"],
    "base64 that is not SSZ": [(it) => ({ ...it, bootstrap: "AAAA" }), "BUNDLE_SHAPE"],
    "no list of updates": [(it) => ({ ...it, updates: {} }), "BUNDLE_SHAPE"],
    "more than 8 MiB": [() => Buffer.alloc(2 ** 23 + 1, 0x20), "FILE_TOO_LARGE"],
  };
  for (const [what, [change, code]] of Object.entries(forgeries))
    it(`is rejected with ${code} for ${what}`, async () => {
      expect(await codeOf(verifyBlockProof(change(proof), trusted))).to.equal(code);
    });

  it("is rejected if it names the test network for another chain", async () => {
    const other = { ...trusted, chainId: 1, network: { ...TEST_NETWORK, chainId: 1 } };
    expect(await codeOf(verifyBlockProof(proof, other))).to.equal("ARGUMENT_INVALID");
  });
});
