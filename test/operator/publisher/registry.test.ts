import { expect } from "chai";
import { ArgumentError, TransportError, VerificationError } from "../../../packages/keyroot/src/errors.ts";
import { userIDToHex } from "../../../packages/keyroot/src/identity/userID.ts";
import { endpointSender } from "../../../packages/operator/src/publisher/signers/endpointSender.ts";
import { usersPerTransaction } from "../../../packages/operator/src/publisher/plan/usersPerTransaction.ts";
import { Registry } from "../../../packages/operator/src/publisher/chain/registry.ts";
import type { RpcCall } from "../../../packages/keyroot/src/transport/jsonRpc.ts";
import { PublicKeyRegistry__factory } from "../../../typechain-types/index.ts";
import { sampleUserID } from "../../../fixtures/samples.ts";
import { failure } from "../../support/support.ts";
import { describeOnBoth, freshRegistry, IMPATIENT } from "../../../fixtures/freshRegistry.ts";

const ROOT = "0123456789abcdef".repeat(4);
const OTHER = "f".repeat(64);
const users = (count: number, seed = 1) => Array.from({ length: count }, (_, i) => sampleUserID(i, seed));
const packed = (userIDs: readonly string[]) => `0x${userIDs.map(userIDToHex).join("")}`;

describeOnBoth("Registry", (startChain) => {
  const fresh = freshRegistry(startChain);
  /** The endpoint, but for the answers to one method. */
  const answering =
    (method: string, answer: (honest: () => Promise<unknown>) => unknown): RpcCall =>
    async (called, params) =>
      called === method ? await answer(() => fresh.call(called, params)) : fresh.call(called, params);

  describe("connect", () => {
    it("refuses an address without a contract", async () => {
      const error = await failure(Registry.connect(fresh.call, fresh.stranger, IMPATIENT));
      expect(error).to.be.an.instanceof(VerificationError).with.property("code", "NO_CONTRACT");
    });

    it("refuses an answer that names no owner", async () => {
      for (const answer of [null, "0x12", `0x${"f".repeat(64)}`, {}]) {
        const error = await failure(fresh.connect(answering("eth_call", () => answer)));
        expect(error).to.be.an.instanceof(TransportError).with.property("code", "RPC_ANSWER_INVALID");
      }
    });

    it("asks again where the first answers are none", async () => {
      let asked = 0;
      const registry = await fresh.connect(
        answering("eth_call", (honest) => {
          if (++asked < 3) throw new TransportError("TIMEOUT", "too late");
          return honest();
        }),
      );
      expect([registry.owner.toLowerCase(), asked]).to.deep.equal([fresh.owner.toLowerCase(), 3]);
    });
  });

  describe("endpointSender", () => {
    it("refuses an endpoint that does not sign for the owner", async () => {
      for (const accounts of [[], [fresh.stranger], "none", null]) {
        const registry = await fresh.connect(answering("eth_accounts", () => accounts));
        const error = await failure(endpointSender(registry));
        expect(error).to.be.an.instanceof(ArgumentError).with.property("code", "NOT_OWNER");
      }
    });

    it("takes an endpoint that spells the owner in lower case", async () => {
      const via = answering("eth_accounts", () => [fresh.stranger, fresh.owner.toLowerCase()]);
      await endpointSender(await fresh.connect(via));
    });
  });

  describe("getMerkleTreeRoots", () => {
    it("returns each user's root, or none, in their order", async () => {
      const userIDs = users(70);
      await fresh.send(fresh.owner, "addMerkleTreeRoot", `0x${ROOT}`, packed(userIDs.slice(10, 40)));
      const roots = await (await fresh.connect()).getMerkleTreeRoots(userIDs);
      expect(roots).to.deep.equal(userIDs.map((_, i) => (i >= 10 && i < 40 ? ROOT : undefined)));
    });

    it("tells what they were at an earlier block", async () => {
      const registry = await fresh.connect();
      const { number } = await registry.chain.block("latest");
      await fresh.send(fresh.owner, "addMerkleTreeRoot", `0x${ROOT}`, packed(users(1)));
      expect(await registry.getMerkleTreeRoots(users(1), number)).to.deep.equal([undefined]);
      expect(await registry.getMerkleTreeRoots(users(1))).to.deep.equal([ROOT]);
    });
  });

  describe("addition", () => {
    it("is the call that the contract's own interface makes, whatever the number of users", async () => {
      const registry = await fresh.connect();
      const contract = PublicKeyRegistry__factory.createInterface();
      for (const count of [0, 1, 2, 7, 8, 700]) {
        const { from, to, data } = registry.addition({ root: ROOT, userIDs: users(count) }, false);
        expect([from, to]).to.deep.equal([registry.owner, registry.contract]);
        const expected = contract.encodeFunctionData("addMerkleTreeRoot", [`0x${ROOT}`, packed(users(count))]);
        expect(data).to.equal(expected);
      }
    });

    it("is cheaper with the slots of many users listed, and dearer with that of one", async () => {
      const registry = await fresh.connect();
      const gasOf = async (count: number, withList: boolean) =>
        registry.estimateGas(registry.addition({ root: ROOT, userIDs: users(count) }, withList));
      expect(await gasOf(100, true)).to.be.lessThan((await gasOf(100, false)) - 70 * 100);
      expect(await gasOf(1, true)).to.be.greaterThan(await gasOf(1, false));
    });
  });

  describe("findAddition", () => {
    it("finds the transaction, its block, its gas and price, and how many users gained the root", async () => {
      const registry = await fresh.connect();
      await fresh.send(fresh.owner, "addMerkleTreeRoot", `0x${OTHER}`, packed(users(2)));
      await fresh.send(fresh.owner, "addMerkleTreeRoot", `0x${ROOT}`, packed(users(3)));
      const added = await registry.findAddition(ROOT);
      const receipt = (await fresh.call("eth_getTransactionReceipt", [added?.transactionHash])) as Record<
        string,
        string
      >;
      expect(added).to.deep.equal({
        transactionHash: receipt["transactionHash"],
        blockNumber: Number(receipt["blockNumber"]),
        gasUsed: Number(receipt["gasUsed"]),
        gasPrice: BigInt(receipt["effectiveGasPrice"] ?? 0),
        addedCount: 1,
      });
    });

    it("finds none for a root that nobody has", async () => {
      expect(await (await fresh.connect()).findAddition(ROOT)).to.equal(undefined);
    });
  });

  describe("usersPerTransaction", () => {
    it("takes as many as asked for where they fit", async () => {
      const registry = await fresh.connect();
      expect(await usersPerTransaction(registry, 700)).to.equal(700);
      expect(await usersPerTransaction(registry, 5)).to.equal(5);
    });

    it("finds the most that a block holds, with room for what may change until the block comes", async () => {
      const via = answering("eth_getBlockByNumber", async (honest) => ({
        ...((await honest()) as object),
        gasLimit: "0x2dc6c0",
      }));
      const registry = await fresh.connect(via);
      const most = await usersPerTransaction(registry, 700);
      const gasOf = (count: number) =>
        registry.estimateGas(registry.addition({ root: ROOT, userIDs: users(count, 2) }, false));
      expect((await gasOf(most)) + 25_000).to.be.at.most(3_000_000);
      expect(await gasOf(most + 4)).to.be.greaterThan(3_000_000);
    });

    it("holds for any users: none is dearer than those that were estimated", async () => {
      const registry = await fresh.connect();
      const dear = Array.from({ length: 50 }, (_, i) => sampleUserID(i, 3));
      const gas = await registry.estimateGas(registry.addition({ root: OTHER, userIDs: dear }, false));
      const via = answering("eth_getBlockByNumber", async (honest) => {
        return { ...((await honest()) as object), gasLimit: `0x${(gas + 2 * 22_500).toString(16)}` };
      });
      expect(await usersPerTransaction(await fresh.connect(via), 100)).to.be.within(49, 50);
    });

    it("passes on why the node refuses even one user", async () => {
      const refusing = answering("eth_estimateGas", () => {
        throw new TransportError("RPC_ERROR", "paused");
      });
      const error = await failure(usersPerTransaction(await fresh.connect(refusing), 700));
      expect(error).to.have.property("message", "paused");
    });

    it("does not take silence, a busy node or nonsense for a refusal", async () => {
      const busy = new TransportError("RPC_ERROR", "429", { actual: 429 });
      for (const trouble of [new TransportError("TIMEOUT", "too late"), busy]) {
        let asked = 0;
        const silent = answering("eth_estimateGas", (honest) => {
          if (++asked <= IMPATIENT.retries) throw trouble;
          return honest();
        });
        expect(await usersPerTransaction(await fresh.connect(silent), 40)).to.equal(40);
      }
      for (const method of ["eth_estimateGas", "eth_getBlockByNumber"]) {
        for (const answer of [null, "many", "0x", 21_000, `0x${"f".repeat(20)}`]) {
          const registry = await fresh.connect(answering(method, () => answer));
          const error = await failure(usersPerTransaction(registry, 4));
          expect(error).to.have.property("code", "RPC_ANSWER_INVALID");
        }
      }
    });
  });
});
