import { expect } from "chai";
import { setTimeout as sleep } from "node:timers/promises";
import { ArgumentError, TransportError, VerificationError } from "../../src/errors.ts";
import { userIDToHex } from "../../src/identity/userID.ts";
import { RegistryWriter } from "../../src/publisher/registryWriter.ts";
import type { RpcCall } from "../../src/transport/jsonRpc.ts";
import { sampleUserID } from "../samples.ts";
import { failure } from "../stack/support.ts";
import { freshRegistry } from "./freshRegistry.ts";

const ROOT = "0123456789abcdef".repeat(4);
const OTHER = "f".repeat(64);
const users = (count: number, seed = 1) => Array.from({ length: count }, (_, i) => sampleUserID(i, seed));
const packed = (userIDs: readonly string[]) => `0x${userIDs.map(userIDToHex).join("")}`;

describe("RegistryWriter", function () {
  this.timeout(60_000);
  const fresh = freshRegistry();
  /** The endpoint, but for the answers to one method. */
  const answering =
    (method: string, answer: (honest: () => Promise<unknown>) => unknown): RpcCall =>
    async (called, params) =>
      called === method ? await answer(() => fresh.call(called, params)) : fresh.call(called, params);

  describe("connect", () => {
    it("refuses an endpoint that does not sign for the owner", async () => {
      for (const accounts of [[], [fresh.stranger], "none", null]) {
        const error = await failure(fresh.connect(answering("eth_accounts", () => accounts)));
        expect(error).to.be.an.instanceof(ArgumentError).with.property("code", "NOT_OWNER");
      }
    });

    it("takes an endpoint that spells the owner in lower case", async () => {
      await fresh.connect(answering("eth_accounts", () => [fresh.stranger, fresh.owner.toLowerCase()]));
    });

    it("refuses an address without a contract", async () => {
      const error = await failure(RegistryWriter.connect(fresh.call, fresh.stranger));
      expect(error).to.be.an.instanceof(VerificationError).with.property("code", "NO_CONTRACT");
    });

    it("refuses an answer that names no owner", async () => {
      for (const answer of [null, "0x12", `0x${"f".repeat(64)}`, {}]) {
        const error = await failure(fresh.connect(answering("eth_call", () => answer)));
        expect(error).to.be.an.instanceof(TransportError).with.property("code", "RPC_ANSWER_INVALID");
      }
    });
  });

  describe("getMerkleTreeRoots", () => {
    it("returns each user's root, or none, in their order, and tells how many are known", async () => {
      const userIDs = users(70);
      await fresh.send(fresh.owner, "addMerkleTreeRoot", `0x${ROOT}`, packed(userIDs.slice(10, 40)));
      const told: number[] = [];
      const registry = await fresh.connect();
      const roots = await registry.getMerkleTreeRoots(userIDs, (count) => told.push(count));
      expect(roots).to.deep.equal(userIDs.map((_, i) => (i >= 10 && i < 40 ? ROOT : undefined)));
      expect(told).to.deep.equal([32, 64, 70]);
    });
  });

  describe("usersPerTransaction", () => {
    it("takes as many as asked for where they fit, and no more than there are", async () => {
      const registry = await fresh.connect();
      expect(await registry.usersPerTransaction(users(800), 700)).to.equal(700);
      expect(await registry.usersPerTransaction(users(5), 700)).to.equal(5);
    });

    it("halves until the node takes the transaction", async () => {
      const registry = await fresh.connect();
      expect(await registry.usersPerTransaction(users(1500), 2000)).to.equal(375);
    });

    it("halves until the block holds the transaction", async () => {
      const registry = await fresh.connect(answering("eth_getBlockByNumber", () => ({ gasLimit: "0x2dc6c0" })));
      expect(await registry.usersPerTransaction(users(700), 700)).to.equal(87);
    });

    it("passes on why the node refuses even one user", async () => {
      let asked = 0;
      const refusing = answering("eth_estimateGas", () => {
        asked++;
        throw new TransportError("RPC_ERROR", "paused");
      });
      const error = await failure((await fresh.connect(refusing)).usersPerTransaction(users(700), 700));
      expect(error).to.have.property("message", "paused");
      expect(asked).to.equal(10);
    });

    it("does not take silence, or nonsense, for a refusal", async () => {
      let asked = 0;
      const silent = answering("eth_estimateGas", () => {
        asked++;
        throw new TransportError("TIMEOUT", "too late");
      });
      const estimating = (await fresh.connect(silent)).usersPerTransaction(users(4), 4);
      expect(await failure(estimating)).to.have.property("code", "TIMEOUT");
      expect(asked).to.equal(1);
      for (const method of ["eth_estimateGas", "eth_getBlockByNumber"]) {
        for (const answer of [null, "many", "0x", 21_000, `0x${"f".repeat(20)}`]) {
          const registry = await fresh.connect(answering(method, () => answer));
          const error = await failure(registry.usersPerTransaction(users(4), 4));
          expect(error).to.have.property("code", "RPC_ANSWER_INVALID");
        }
      }
    });
  });

  describe("addMerkleTreeRoot", () => {
    it("adds the root and says in which transaction and block, at what cost, for how many users", async () => {
      const registry = await fresh.connect();
      const added = await registry.addMerkleTreeRoot(ROOT, users(3));
      expect(added.addedCount).to.equal(3);
      const receipt = await fresh.call("eth_getTransactionReceipt", [added.transactionHash]);
      const { blockNumber, gasUsed } = receipt as { blockNumber: string; gasUsed: string };
      expect([added.blockNumber, added.gasUsed]).to.deep.equal([Number(blockNumber), Number(gasUsed)]);
      expect(await registry.getMerkleTreeRoots(users(4))).to.deep.equal([ROOT, ROOT, ROOT, undefined]);
    });

    it("counts only the users who had none", async () => {
      const registry = await fresh.connect();
      await registry.addMerkleTreeRoot(OTHER, users(2));
      expect(await registry.addMerkleTreeRoot(ROOT, users(3))).to.include({ addedCount: 1 });
      expect(await registry.addMerkleTreeRoot(ROOT, users(3))).to.include({ addedCount: 0 });
      expect(await registry.getMerkleTreeRoots(users(3))).to.deep.equal([OTHER, OTHER, ROOT]);
    });

    it("waits until the transaction is in a block", async () => {
      const registry = await fresh.connect();
      await fresh.call("evm_setAutomine", [false]);
      try {
        let mined = false;
        const adding = registry.addMerkleTreeRoot(ROOT, users(1)).finally(() => expect(mined).to.be.true);
        await sleep(600);
        mined = true;
        await fresh.call("evm_mine", []);
        expect(await adding).to.include({ addedCount: 1 });
      } finally {
        await fresh.call("evm_setAutomine", [true]);
      }
    });

    it("says when the transaction was reverted, as where the owner changed in the meantime", async () => {
      const handOver = answering("eth_sendTransaction", async (send) => {
        await fresh.send(fresh.owner, "transferOwnership", fresh.stranger);
        await fresh.send(fresh.stranger, "acceptOwnership");
        await fresh.call("evm_setAutomine", [false]);
        const hash = await send();
        await fresh.call("evm_mine", []);
        return hash;
      });
      const registry = await fresh.connect(handOver);
      try {
        const error = await failure(registry.addMerkleTreeRoot(ROOT, users(1)));
        expect(error).to.be.an.instanceof(VerificationError).with.property("code", "TRANSACTION_REVERTED");
      } finally {
        await fresh.call("evm_setAutomine", [true]);
      }
      expect(await registry.getMerkleTreeRoots(users(1))).to.deep.equal([undefined]);
    });

    it("refuses answers that are no transaction, and no receipt of one", async () => {
      const receipt = { status: "0x1", blockNumber: "0x1", gasUsed: "0x1", logs: [] };
      for (const [method, answer] of [
        ["eth_sendTransaction", null],
        ["eth_sendTransaction", "\u001b[31m"],
        ["eth_getTransactionReceipt", { ...receipt, blockNumber: undefined }],
        ["eth_getTransactionReceipt", { ...receipt, gasUsed: "much" }],
        ["eth_getTransactionReceipt", { ...receipt, logs: null }],
        ["eth_getTransactionReceipt", { ...receipt, logs: [{}] }],
      ] as const) {
        const registry = await fresh.connect(answering(method, () => answer));
        const error = await failure(registry.addMerkleTreeRoot(ROOT, users(1)));
        expect(error, JSON.stringify(answer)).to.have.property("code", "RPC_ANSWER_INVALID");
      }
    });
  });
});
