import { expect } from "chai";
import hre from "hardhat";
import { SimulatedBeacon } from "@keyroot/operator/testing";
import type { Listening } from "@keyroot/operator/shared";
import type { KeyRecord } from "keyroot/identity";
import { type RpcCall, rpcCaller } from "keyroot/transport";
import { FolderStore } from "../../../packages/operator/src/publisher/files/folderStore.ts";
import { publish } from "../../../packages/operator/src/publisher/publish.ts";
import { Registry } from "../../../packages/operator/src/publisher/chain/registry.ts";
import { startStack, type Stack } from "../../../packages/service/src/stack/stack.ts";
import { LOCAL } from "../../support/chain/local.ts";
import { describeWithProgram } from "../../support/processes/commandLine.ts";
import { sampleRecords } from "../../support/samples.ts";

const [mine, stranger] = sampleRecords(2) as [KeyRecord, KeyRecord];

describeWithProgram("a light client", (keyroot) => {
  let stack: Stack;
  let call: RpcCall;
  let beacon: SimulatedBeacon;
  let server: Listening;
  let trusted: string[];

  before(async () => {
    stack = await startStack(hre, { ports: { chain: 0, files: 0 } });
    call = rpcCaller(stack.rpcUrl, { maxBytes: 2 ** 20, timeoutMs: 30_000 });
    beacon = await SimulatedBeacon.create({ call });
    server = await beacon.listen();
    trusted = ["--beacon", server.url, "--checkpoint", beacon.checkpoint];
    const registry = await Registry.connect(call, stack.contract);
    await publish([mine], { ...LOCAL, registry, store: new FolderStore(stack.filesDir) });
  });
  after(async () => {
    await server.close();
    await stack.close();
  });

  const place = () => ["--rpc", stack.rpcUrl, "--contract", stack.contract, "--merkle-url", stack.merkleUrl];

  /** Runs a command. A given option replaces the same one before it. */
  const run = async (...words: string[]) => {
    const { code, json } = await keyroot.json(words);
    return { code, json, error: json.error?.["code"] };
  };

  describe("light-client", () => {
    const follow = (options: Record<string, string> = {}) => {
      const all = { beacon: server.url, checkpoint: beacon.checkpoint, "beacon-network": "test", ...options };
      return run("light-client", ...Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]));
    };

    it("prints the newest finalized block", async () => {
      const { code, json } = await follow();
      const { hash } = (await call("eth_getBlockByNumber", ["latest", false])) as { hash: string };
      expect(json).to.include({ network: "test", chainId: 31_337, checkpoint: beacon.checkpoint, blockHash: hash });
      expect(json).to.include({ participation: 512, periods: 0 });
      expect(json["ageSeconds"]).to.be.at.least(0);
      expect(code).to.equal(0);
    });

    it("ends with 3 if no endpoint answers", async () => {
      expect(await follow({ beacon: "http://127.0.0.1:1" })).to.include({ code: 3, error: "UNREACHABLE" });
    });

    it("ends with 1 if the answer is for another network", async () => {
      const answer = await follow({ "beacon-network": "mainnet" });
      expect(answer).to.include({ code: 1, error: "LIGHT_CLIENT_INVALID" });
    });

    it("ends with 2 without a checkpoint, or with one that is none", async () => {
      expect(await run("light-client", "--beacon", server.url)).to.include({ code: 2 });
      expect(await run("light-client", "--checkpoint", beacon.checkpoint)).to.include({ code: 2 });
      expect(await follow({ checkpoint: "0x12" })).to.include({ code: 2 });
    });
  });

  describe("verify --beacon", () => {
    const verify = (user: KeyRecord, ...options: string[]) =>
      run("verify", user.userID, ...place(), "--chain-id", "31337", ...trusted, ...options);

    it("verifies a key, and names the checkpoint as evidence", async () => {
      const { code, json } = await verify(mine, "--max-checkpoint-age", "30");
      expect(json["evidence"]).to.include({ anchor: "beacon", storageProof: true });
      expect(json).to.have.nested.property("evidence.beacon.maxCheckpointAgeMs", 30 * 86_400_000);
      expect(code).to.equal(0);
    });

    it("ends with 1 for an unpublished key", async () => {
      expect(await verify(stranger)).to.include({ code: 1, error: "NOT_PUBLISHED" });
    });

    it("ends with 2 beside another source of the block", async () => {
      expect(await verify(mine, "--quorum", "1")).to.include({ code: 2 });
      expect(await verify(mine, "--light-client")).to.include({ code: 2 });
    });

    it("ends with 2 if the checkpoint is given without an endpoint", async () => {
      expect(await run("verify", mine.userID, ...place(), "--checkpoint", beacon.checkpoint)).to.include({ code: 2 });
    });
  });
});
