import { expect } from "chai";
import { AbiCoder, keccak256 } from "ethers";
import fc from "fast-check";
import { endpointSender, Registry } from "@keyroot/operator/publisher";
import { ArgumentError, TransportError, VerificationError } from "keyroot/internal/errors";
import { userIDFromBytes, userIDToHex } from "keyroot/internal/identity";
import { slotOfUser } from "keyroot/internal/registry";
import type { RpcCall } from "keyroot/internal/transport";
import { USERS_SLOT } from "../../../../packages/keyroot/src/internal/registry.ts";
import { Chain } from "../../../../packages/operator/src/publisher/chain/chain.ts";
import { usersPerTransaction } from "../../../../packages/operator/src/publisher/plan/usersPerTransaction.ts";
import { PublicKeyRegistry__factory } from "../../../../typechain-types/index.ts";
import { sampleUserID } from "../../../support/samples.ts";
import { refusalOf } from "../../../support/refusalOf.ts";
import { failure } from "../../../support/support.ts";
import { describeOnBoth, freshRegistry, FAST_RETRY } from "../../../support/chain/freshRegistry.ts";

const ROOT = "0123456789abcdef".repeat(4);
const OTHER = "f".repeat(64);
const users = (count: number, seed = 1) => Array.from({ length: count }, (_, i) => sampleUserID(i, seed));
const packed = (userIDs: readonly string[]) => `0x${userIDs.map(userIDToHex).join("")}`;

describeOnBoth("Registry", (startChain) => {
  const fresh = freshRegistry(startChain);

  describe("connect", () => {
    it("rejects an address without a contract", async () => {
      const error = await failure(Registry.connect(fresh.call, fresh.stranger, FAST_RETRY));
      expect(error).to.be.an.instanceof(VerificationError).with.property("code", "NO_CONTRACT");
    });

    it("rejects a response that is not an owner's address", async () => {
      for (const answer of [null, "0x12", `0x${"f".repeat(64)}`, {}]) {
        const error = await failure(fresh.connect(fresh.at("eth_call", () => answer)));
        expect(error).to.be.an.instanceof(TransportError).with.property("code", "RPC_ANSWER_INVALID");
      }
    });

    it("repeats reads that get no response", async () => {
      let calls = 0;
      const registry = await fresh.connect(
        fresh.at("eth_call", (forward, _, time) => {
          calls = time;
          if (time < 3) throw new TransportError("TIMEOUT", "too late");
          return forward();
        }),
      );
      expect([registry.owner.toLowerCase(), calls]).to.deep.equal([fresh.owner.toLowerCase(), 3]);
    });

    it("repeats reads with a temporary failure or an invalid response", async () => {
      const answers = [new TransportError("TIMEOUT", "no answer in time"), "not a number", "0x7a69"];
      const chain = new Chain(() => {
        const answer = answers.shift();
        return answer instanceof TransportError ? Promise.reject(answer) : Promise.resolve(answer);
      }, FAST_RETRY);
      expect(await chain.chainId()).to.equal(31337);
      expect(answers).to.deep.equal([]);
    });
  });

  describe("endpointSender", () => {
    it("rejects an endpoint that does not sign for the owner", async () => {
      for (const accounts of [[], [fresh.stranger], "none", null]) {
        const registry = await fresh.connect(fresh.at("eth_accounts", () => accounts));
        const error = await failure(endpointSender(registry, fresh.chainId));
        expect(error).to.be.an.instanceof(ArgumentError).with.property("code", "NOT_OWNER");
      }
    });

    it("accepts an endpoint that returns the owner in lower case", async () => {
      const via = fresh.at("eth_accounts", () => [fresh.stranger, fresh.owner.toLowerCase()]);
      await endpointSender(await fresh.connect(via), fresh.chainId);
    });
  });

  describe("getMerkleTreeRoots", () => {
    it("returns roots in the order of the user ids", async () => {
      const userIDs = users(70);
      await fresh.send(fresh.owner, "addMerkleTreeRoot", `0x${ROOT}`, packed(userIDs.slice(10, 40)));
      const roots = await (await fresh.connect()).getMerkleTreeRoots(userIDs);
      expect(roots).to.deep.equal(userIDs.map((_, i) => (i >= 10 && i < 40 ? ROOT : undefined)));
    });

    it("reads the roots at an earlier block", async () => {
      const registry = await fresh.connect();
      const { number } = await registry.chain.block("latest");
      await fresh.send(fresh.owner, "addMerkleTreeRoot", `0x${ROOT}`, packed(users(1)));
      expect(await registry.getMerkleTreeRoots(users(1), number)).to.deep.equal([undefined]);
      expect(await registry.getMerkleTreeRoots(users(1))).to.deep.equal([ROOT]);
    });
  });

  describe("addRootCall", () => {
    it("encodes the call according to the contract's ABI", async () => {
      const registry = await fresh.connect();
      const contract = PublicKeyRegistry__factory.createInterface();
      for (const count of [0, 1, 2, 7, 8, 700]) {
        const { from, to, data } = registry.addRootCall({ root: ROOT, userIDs: users(count) }, false);
        expect([from, to]).to.deep.equal([registry.owner, registry.contract]);
        const expected = contract.encodeFunctionData("addMerkleTreeRoot", [`0x${ROOT}`, packed(users(count))]);
        expect(data).to.equal(expected);
      }
    });

    it("lists the same storage slots that a verifier proves", async () => {
      const registry = await fresh.connect();
      const encode = (id: Uint8Array) => AbiCoder.defaultAbiCoder().encode(["bytes20", "uint256"], [id, USERS_SLOT]);
      fc.assert(
        fc.property(fc.array(fc.uint8Array({ minLength: 20, maxLength: 20 }), { maxLength: 20 }), (ids) => {
          const userIDs = ids.map(userIDFromBytes);
          const [list, ...others] = registry.addRootCall({ root: ROOT, userIDs }, true).accessList ?? [];
          expect([list?.address, others]).to.deep.equal([fresh.contract, []]);
          expect(list?.storageKeys).to.deep.equal(userIDs.map((userID) => slotOfUser(userID, USERS_SLOT)));
          expect(list?.storageKeys).to.deep.equal(ids.map((id) => keccak256(encode(id))));
        }),
      );
    });

    it("rejects an invalid user id", async () => {
      const registry = await fresh.connect();
      const [userID = ""] = users(1);
      for (const withAccessList of [true, false]) {
        const call = () => registry.addRootCall({ root: ROOT, userIDs: [userID, userID.slice(1)] }, withAccessList);
        expect(refusalOf(call)).to.equal("USER_ID_INVALID");
      }
    });

    it("needs less gas with an access list only for many users", async () => {
      const registry = await fresh.connect();
      const gasOf = async (count: number, withList: boolean) =>
        registry.estimateGas(registry.addRootCall({ root: ROOT, userIDs: users(count) }, withList));
      expect(await gasOf(100, true)).to.be.lessThan((await gasOf(100, false)) - 70 * 100);
      expect(await gasOf(1, true)).to.be.greaterThan(await gasOf(1, false));
    });
  });

  describe("findAddedRoot", () => {
    it("returns the root's transaction, block, gas and number of users", async () => {
      const registry = await fresh.connect();
      await fresh.send(fresh.owner, "addMerkleTreeRoot", `0x${OTHER}`, packed(users(2)));
      await fresh.send(fresh.owner, "addMerkleTreeRoot", `0x${ROOT}`, packed(users(3)));
      const added = await registry.findAddedRoot(ROOT);
      const receipt = (await fresh.call("eth_getTransactionReceipt", [added?.transactionHash])) as Record<
        string,
        string
      >;
      expect(added).to.deep.equal({
        transactionHash: receipt["transactionHash"],
        blockNumber: Number(receipt["blockNumber"]),
        gasUsed: Number(receipt["gasUsed"]),
        gasPrice: BigInt(receipt["effectiveGasPrice"] ?? 0),
        dataFee: 0n,
        addedCount: 1,
      });
    });

    it("returns undefined for a root without users", async () => {
      expect(await (await fresh.connect()).findAddedRoot(ROOT)).to.equal(undefined);
    });
  });

  describe("findAddedRoot, with pending data", () => {
    const pendingOnce = (method: string, change: (answer: unknown) => unknown): RpcCall => {
      let answers = 0;
      return fresh.at(method, async (forward) => (++answers === 1 ? change(await forward()) : forward()));
    };
    beforeEach(() => fresh.send(fresh.owner, "addMerkleTreeRoot", `0x${ROOT}`, packed(users(2))));

    it("repeats the request for a log without a block", async () => {
      const none = { blockHash: null, blockNumber: null, transactionHash: null, logIndex: null };
      const via = pendingOnce("eth_getLogs", (logs) => (logs as object[]).map((log) => ({ ...log, ...none })));
      expect(await (await fresh.connect(via)).findAddedRoot(ROOT)).to.include({ addedCount: 2 });
    });

    it("treats a receipt without a block as absent", async () => {
      const pending = { blockHash: null, blockNumber: null };
      const via = pendingOnce("eth_getTransactionReceipt", (receipt) => ({ ...(receipt as object), ...pending }));
      const registry = await fresh.connect(via);
      expect(await registry.findAddedRoot(ROOT)).to.equal(undefined);
      expect(await registry.findAddedRoot(ROOT)).to.include({ addedCount: 2 });
    });
  });

  describe("usersPerTransaction", () => {
    it("returns the given maximum if so many users fit", async () => {
      const registry = await fresh.connect();
      expect(await usersPerTransaction(registry, 700)).to.equal(700);
      expect(await usersPerTransaction(registry, 5)).to.equal(5);
    });

    it("returns the number of users that fit into a block", async () => {
      const via = fresh.at("eth_getBlockByNumber", async (forward) => ({
        ...((await forward()) as object),
        gasLimit: "0x2dc6c0",
      }));
      const registry = await fresh.connect(via);
      const max = await usersPerTransaction(registry, 700);
      const gasOf = (count: number) =>
        registry.estimateGas(registry.addRootCall({ root: ROOT, userIDs: users(count, 2) }, false));
      expect((await gasOf(max)) + 25_000).to.be.at.most(3_000_000);
      expect(await gasOf(max + 4)).to.be.greaterThan(3_000_000);
    });

    it("assumes the most expensive user ids", async () => {
      const registry = await fresh.connect();
      const others = Array.from({ length: 50 }, (_, i) => sampleUserID(i, 3));
      const gas = await registry.estimateGas(registry.addRootCall({ root: OTHER, userIDs: others }, false));
      const via = fresh.at("eth_getBlockByNumber", async (forward) => {
        return { ...((await forward()) as object), gasLimit: `0x${(gas + 2 * 22_500).toString(16)}` };
      });
      expect(await usersPerTransaction(await fresh.connect(via), 100)).to.be.within(49, 50);
    });

    it("throws the node's error if the node rejects even a single user", async () => {
      const rejecting = fresh.at("eth_estimateGas", () => {
        throw new TransportError("RPC_ERROR", "paused");
      });
      const error = await failure(usersPerTransaction(await fresh.connect(rejecting), 700));
      expect(error).to.have.property("message", "paused");
    });

    it("does not treat other failures as a rejection", async () => {
      const busy = new TransportError("RPC_ERROR", "429", { actual: 429 });
      for (const error of [new TransportError("TIMEOUT", "too late"), busy]) {
        let calls = 0;
        const failing = fresh.at("eth_estimateGas", (forward) => {
          if (++calls <= FAST_RETRY.retries) throw error;
          return forward();
        });
        expect(await usersPerTransaction(await fresh.connect(failing), 40)).to.equal(40);
      }
      for (const method of ["eth_estimateGas", "eth_getBlockByNumber"]) {
        for (const answer of [null, "many", "0x", 21_000, `0x${"f".repeat(20)}`]) {
          const registry = await fresh.connect(fresh.at(method, () => answer));
          const error = await failure(usersPerTransaction(registry, 4));
          expect(error).to.have.property("code", "RPC_ANSWER_INVALID");
        }
      }
    });
  });
});
