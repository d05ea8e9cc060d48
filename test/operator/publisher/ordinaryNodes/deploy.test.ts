import { deploy, type DeployOptions } from "@keyroot/operator/publisher";
import { expect } from "chai";
import { join } from "node:path";
import { toQuantity } from "keyroot/internal/ethereum";
import { fetchOwner } from "keyroot/internal/registry";
import { FAST_RETRY, freshRegistry } from "../../../support/chain/freshRegistry.ts";
import { callerOf } from "../../../support/chain/local.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";
import { changeResult, type RpcRule, startRpcProxy } from "../../../support/servers/rpcProxy.ts";
import { closedAfterEach, failure, temporaryFolder } from "../../../support/support.ts";
// Inner classes of the package have no entry.
import { Chain } from "../../../../packages/operator/src/publisher/chain/chain.ts";

const GWEI = 10n ** 9n;
const SEND = "eth_sendTransaction";
const RECEIPT = "eth_getTransactionReceipt";

/**
 * A rule that sees the receipts that the chain returns. After that, a node behind the balancer lacks the newest blocks.
 */
interface BehindRow {
  what: string;
  rule: (isIncluded: () => boolean) => RpcRule;
}

/** The answers of nodes that lack the block of the deployment for a while. */
const BEHIND: readonly BehindRow[] = [
  {
    what: "no code after the receipt",
    rule: (isIncluded) => {
      let left = 3;
      return ({ method }) => (method === "eth_getCode" && isIncluded() && left-- > 0 ? { result: "0x" } : undefined);
    },
  },
  {
    what: "code, but then no result of a call",
    rule: (isIncluded) => {
      let left = 2;
      return ({ method }) => (method === "eth_call" && isIncluded() && left-- > 0 ? { result: "0x" } : undefined);
    },
  },
  {
    what: "a receipt that comes and goes",
    rule: () => {
      let time = 0;
      return changeResult(RECEIPT, (receipt) => (time++ % 2 === 0 ? null : receipt));
    },
  },
  {
    what: "no hash, because the node already has the transaction",
    rule: () => async (request, forward) => {
      if (request.method !== SEND) return undefined;
      await forward(request);
      return { error: { code: -32000, message: "already known" } };
    },
  },
];

describe("deploying through ordinary nodes", () => {
  const fresh = freshRegistry();
  const closing = closedAfterEach();
  const folder = temporaryFolder();
  const deployWith = async (rule?: RpcRule, changes: Partial<DeployOptions> = {}) => {
    const { url } = closing(await startRpcProxy(fresh.rpcUrl, rule));
    return deploy(new Chain(callerOf(url), FAST_RETRY), {
      ...{ chainId: fresh.chainId, owner: undefined, deterministic: false, signer: undefined },
      ...{ limits: { maxFeePerGas: 100n * GWEI }, timeoutMs: ENDLESS_MS },
      recordFile: join(folder.path, "deployments.json"),
      ...changes,
    });
  };
  const sentCount = async (tag = "latest") => Number(await fresh.call("eth_getTransactionCount", [fresh.owner, tag]));
  const withoutBlocks = async <T>(action: () => Promise<T>): Promise<T> => {
    await fresh.call("evm_setAutomine", [false]);
    try {
      return await action();
    } finally {
      await fresh.call("evm_setAutomine", [true]);
      await fresh.call("evm_mine", []);
    }
  };

  describe("a node that lacks the newest block", () => {
    for (const { what, rule } of BEHIND)
      it(`${what}: one registry is deployed, and the second run finds it`, async () => {
        const before = await sentCount();
        let included = false;
        const behind = rule(() => included);
        const first = await deployWith(async (request, forward) => {
          const outcome = await behind(request, forward);
          included ||= (await sentCount()) > before;
          return outcome;
        });
        expect(await deployWith(rule(() => true))).to.deep.equal({ ...first, existed: true });
        expect((await sentCount()) - before).to.equal(1);
      });

    it("shows no code until the time limit: the second run uses the recorded deployment", async () => {
      const before = await sentCount();
      const noCode: RpcRule = ({ method }) => (method === "eth_getCode" ? { result: "0x" } : undefined);
      for (const run of [1, 2]) {
        const error = await failure(deployWith(noCode, { timeoutMs: 300 }));
        expect(error, String(run)).to.have.property("code").that.is.oneOf(["NO_CONTRACT", "NO_RECEIPT"]);
      }
      expect((await deployWith()).existed).to.equal(true);
      expect((await sentCount()) - before).to.equal(1);
    });

    it("shows neither code nor receipt nor the used nonce: the second run sends nothing new", async () => {
      const before = await sentCount();
      const behind: RpcRule = ({ method, params }) => {
        if (method === RECEIPT) return { result: null };
        if (method === "eth_getTransactionCount") return { result: toQuantity(before) };
        return method === "eth_getCode" && params[1] === "latest" ? { result: "0x" } : undefined;
      };
      for (const run of [1, 2])
        expect(await failure(deployWith(behind, { timeoutMs: 300 })), String(run)).to.include({ code: "NO_RECEIPT" });
      expect((await deployWith()).existed).to.equal(true);
      expect((await sentCount()) - before).to.equal(1);
    });
  });

  describe("a deployment that is pending", () => {
    it("at the start waits for its block, up to the time limit", async () => {
      const before = await sentCount();
      const deployed = await withoutBlocks(async () => {
        for (const run of [1, 2]) {
          const error = await failure(deployWith(undefined, { timeoutMs: 300 }));
          expect(error, String(run)).to.include({ code: "NO_RECEIPT" });
          expect((error as Error).message).to.match(/The transaction 0x[0-9a-f]{64} is in no block after 0\.3 s\./);
        }
        const waiting = deployWith();
        await fresh.call("evm_mine", []);
        return waiting;
      });
      expect(await fetchOwner(fresh.call, deployed.contract)).to.equal(fresh.owner.toLowerCase());
      expect((await sentCount()) - before).to.equal(1);
    });

    it("keeps its nonce and its record when another owner's registry is deployed", async () => {
      const before = await sentCount();
      const uncounted: RpcRule = ({ method, params }) =>
        method === "eth_getTransactionCount" && params[1] === "pending" ? { result: toQuantity(before) } : undefined;
      await withoutBlocks(async () => {
        expect(await failure(deployWith(uncounted, { timeoutMs: 300 }))).to.include({ code: "NO_RECEIPT" });
        const other = deployWith(uncounted, { owner: fresh.stranger, timeoutMs: 300 });
        expect(await failure(other)).to.include({ code: "NO_RECEIPT" });
      });
      const [mine, theirs] = [await deployWith(), await deployWith(undefined, { owner: fresh.stranger })];
      expect([mine.owner, theirs.owner]).to.deep.equal([fresh.owner, fresh.stranger]);
      expect((await sentCount()) - before).to.equal(2);
    });

    it("is not deployed again by another account for the same owner", async () => {
      await withoutBlocks(async () => {
        const owner = fresh.stranger;
        expect(await failure(deployWith(undefined, { owner, timeoutMs: 300 }))).to.include({ code: "NO_RECEIPT" });
        const accounts: RpcRule = changeResult("eth_accounts", (all) => (all as string[]).toReversed());
        const error = await failure(deployWith(accounts, { owner, timeoutMs: 300 }));
        expect(error).to.include({ code: "NO_RECEIPT" });
        expect((error as Error).message).to.include(`deploy with the key of ${fresh.owner}`);
      });
    });
  });

  it("gets another nonce if the owner used the recorded one for something else", async () => {
    const error = { code: -32000, message: "insufficient funds for gas * price + value" };
    const poor = failure(deployWith(({ method }) => (method === SEND ? { error } : undefined)));
    expect(((await poor) as Error).message).to.include(`The account ${fresh.owner} has too little ETH`);
    await fresh.call(SEND, [{ from: fresh.owner, to: fresh.owner }]);
    expect((await deployWith()).owner).to.equal(fresh.owner);
  });

  it("shows a rejected transaction's newest reason, and the option that changes it", async () => {
    const message = "transaction underpriced: gas tip cap 1000000000, minimum needed 25000000000";
    const reasons: string[] = [];
    const rule: RpcRule = ({ method }) => (method === SEND ? { error: { code: -32000, message } } : undefined);
    const error = await failure(deployWith(rule, { timeoutMs: 300, onWaiting: (reason) => reasons.push(reason) }));
    expect(error).to.include({ code: "NO_RECEIPT" });
    for (const text of [(error as Error).message, ...reasons])
      expect(text).to.include(message).and.include("--max-priority-fee");
    expect(reasons).to.have.lengthOf(1);
  });

  it("accepts a receipt without effectiveGasPrice and a chain without a block gas limit", async () => {
    const withoutPrice = changeResult(RECEIPT, (receipt) => {
      if (receipt !== null) delete (receipt as Record<string, unknown>)["effectiveGasPrice"];
      return receipt;
    });
    const withoutLimit = changeResult("eth_getBlockByNumber", (block) => ({
      ...(block as object),
      gasLimit: "0xffffffffffffffff",
    }));
    const deployed = await deployWith(
      async (request, forward) => (await withoutPrice(request, forward)) ?? withoutLimit(request, forward),
    );
    expect(deployed.owner).to.equal(fresh.owner);
  });
});
