import type { PublishEvent, PublishOptions } from "@keyroot/operator/publisher";
import { expect } from "chai";
import { toQuantity } from "keyroot/internal/ethereum";
import { changeResult, firstTimes, type RpcRule, startRpcProxy } from "../../../support/servers/rpcProxy.ts";
import { callerOf } from "../../../support/chain/local.ts";
import { publishing } from "../../../support/publisher/publishing.ts";
import { sampleRecords } from "../../../support/samples.ts";
import { closedAfterEach, failure } from "../../../support/support.ts";
// Inner functions of the package have no entry.
import { trySend } from "../../../../packages/operator/src/publisher/transactions/trySend.ts";

const GWEI = 10n ** 9n;
const SEND = "eth_sendTransaction";
const USERS = 4;

interface RejectionRow {
  who: string;
  error: { code: number; message: string };
  status?: number;
  /** `known`: the node has a transaction with this nonce. `waits`: the transaction is sent again. `ends`: the run ends. */
  outcome: "known" | "waits" | "ends";
  /** What the user reads, in addition to the node's message. */
  shows?: string;
}

const rejection = (
  who: string,
  message: string,
  outcome: RejectionRow["outcome"],
  more: { code?: number; status?: number; shows?: string } = {},
): RejectionRow => {
  const { code = -32000, ...rest } = more;
  return { who, error: { code, message }, outcome, ...rest };
};

/** The sources of the messages are in the table `SEND_ANSWERS`. */
const REJECTIONS: readonly RejectionRow[] = [
  rejection("Geth", "already known", "known"),
  rejection("Nethermind", "AlreadyKnown", "known", { code: -32010 }),
  rejection("Nethermind", "ReplacementNotAllowed", "known", { code: -32010 }),
  rejection("Erigon", "INTERNAL_ERROR: could not replace existing tx", "known"),
  rejection("Erigon", "ALREADY_EXISTS: already known", "known"),
  rejection("Geth", "replacement transaction underpriced", "known"),
  rejection("Nethermind", "FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 7, BaseFee: 8", "waits", { code: -32010 }),
  rejection("Nethermind with a full pool", "FeeTooLowToCompete", "waits", { code: -32010 }),
  rejection("Geth with a full pool", "txpool is full", "waits"),
  rejection("Geth", "nonce too low: next nonce 5, tx nonce 4", "waits"),
  rejection("Geth", "nonce too high", "waits"),
  rejection("Geth", "max fee per gas less than block base fee: maxFeePerGas: 7, baseFee: 8", "waits", {
    shows: "--max-fee",
  }),
  rejection("Bor", "transaction underpriced: gas tip cap 15000000000, minimum needed 25000000000", "waits", {
    shows: "--max-priority-fee",
  }),
  rejection("Geth, delegated sender", "in-flight transaction limit reached for delegated accounts", "waits", {
    shows: "EIP-7702",
  }),
  rejection("Geth, delegated sender", "gapped-nonce tx from delegated accounts", "waits"),
  rejection("QuickNode", "50/second request limit reached", "waits", { code: -32007 }),
  rejection("Base", "over rate limit", "waits", { code: -32016 }),
  rejection("Infura", "daily request count exceeded", "waits", { code: -32005 }),
  rejection("HTTP 429", "request limit reached", "waits", { code: -32011, status: 429 }),
  rejection("HTTP 503", "no healthy upstream", "waits", { status: 503 }),
  rejection("Geth", "tx fee (1.52 ether) exceeds the configured cap (1.00 ether)", "ends", { shows: "--rpc.txfeecap" }),
  rejection("Besu", "Transaction fee cap exceeded", "ends", { shows: "--rpc-tx-feecap" }),
  ...[
    ["Geth", "insufficient funds for gas * price + value: balance 0, tx cost 2"],
    ["Reth", "lack of funds (0) for max fee (21000)"],
    ["Nethermind", "InsufficientFunds, Account balance: 0, cumulative cost: 21000"],
    ["Besu", "Upfront cost exceeds account balance"],
    ["Besu", "transaction up-front cost 0x5208 exceeds transaction sender account balance 0x0"],
    ["Hardhat", "Sender doesn't have enough funds to send tx. The max upfront cost is: 21000"],
    ["Erigon", "INTERNAL_ERROR: insufficient funds"],
    ["zkSync", "Not enough balance to cover the fee"],
  ].map(([who = "", message = ""]) => rejection(who, message, "ends", { shows: "Send ETH to this account" })),
];

describe("publishing through ordinary nodes", () => {
  const { fresh, publishVia, verify } = publishing();
  const closing = closedAfterEach();
  const records = sampleRecords(USERS);
  let events: PublishEvent[];
  beforeEach(() => {
    events = [];
  });
  const proxyWith = async (rule: RpcRule) => closing(await startRpcProxy(fresh.rpcUrl, rule));
  const publishThrough = async (rule: RpcRule, options: Partial<PublishOptions> = {}) => {
    const onEvent = (event: PublishEvent) => events.push(event);
    const { url } = await proxyWith(rule);
    return publishVia(callerOf(url), records, { usersPerFile: 1, onEvent, ...options });
  };
  const emitted = (name: PublishEvent["event"]) => events.filter(({ event }) => event === name);
  const expectPublished = async () => {
    for (const record of records) await verify(record);
  };

  describe("a rejected transaction", () => {
    for (const { who, error, status, outcome, shows } of REJECTIONS) {
      it(`${outcome === "known" ? "counts as sent" : outcome}: "${error.message}" (${who})`, async () => {
        const { url } = await proxyWith(() => ({ error, ...(status !== undefined && { status }) }));
        const call = callerOf(url);
        const sending = trySend((request) => call("eth_sendRawTransaction", [request]) as Promise<string>, {
          ...{ from: fresh.owner, data: "0x", nonce: "0x0", gas: "0x0" },
        });
        if (outcome === "ends") {
          const { message } = (await failure(sending)) as Error;
          expect(message).to.include(error.message).and.include(shows);
          return;
        }
        const { accepted, problem } = await sending;
        expect(accepted).to.equal(outcome === "known");
        if (outcome === "known") expect(problem).to.equal(undefined);
        else
          expect(problem)
            .to.include(error.message)
            .and.include(shows ?? "");
      });

      if (outcome !== "ends")
        it(`is included in the end: "${error.message}" (${who})`, async () => {
          await publishThrough(firstTimes(2, SEND, { error, ...(status !== undefined && { status }) }));
          await expectPublished();
        });
    }

    it("of a sender who may have only one pending transaction, waits for the block of the first one", async () => {
      const error = { code: -32000, message: "in-flight transaction limit reached for delegated accounts" };
      let hash: unknown;
      const rule: RpcRule = async ({ method, params }, forward) => {
        if (method !== SEND) return undefined;
        const receipt = hash && (await fresh.call("eth_getTransactionReceipt", [hash]));
        if (receipt === null) return { error };
        const answer = await forward({ jsonrpc: "2.0", id: 1, method, params });
        hash = answer["result"];
        await fresh.call("evm_mine", []);
        return { answer };
      };
      await fresh.call("evm_setAutomine", [false]);
      try {
        await publishThrough(rule);
      } finally {
        await fresh.call("evm_setAutomine", [true]);
      }
      await expectPublished();
    });

    it("waits while the sender's other transactions reserve the funds", async () => {
      let sent = 0;
      const error = { code: -32000, message: "insufficient funds for gas * price + value: balance 9, queued cost 8" };
      await publishThrough(({ method }) => (method === SEND && ++sent === 2 ? { error } : undefined));
      await expectPublished();
      expect(JSON.stringify(emitted("waiting"))).to.include("queued cost");
    });

    it("offers more within the limits, until the node's minimum tip is reached", async () => {
      await publishThrough(minimumTip(25n), { limits: { maxFeePerGas: 60n * GWEI, maxPriorityFeePerGas: 25n * GWEI } });
      await expectPublished();
    });

    it("ends with the node's newest reason and the option for the tip if the limit is too low", async () => {
      const limits = { maxFeePerGas: 60n * GWEI };
      const error = await failure(publishThrough(minimumTip(25n), { limits, sending: { timeoutMs: 1_000 } }));
      expect(error).to.include({ code: "NO_RECEIPT" });
      expect((error as Error).message)
        .to.include("gas tip cap 15000000000, minimum needed 25000000000")
        .and.include("--max-priority-fee");
    });
  });

  describe("an ordinary answer", () => {
    const withoutPrice = changeResult("eth_getTransactionReceipt", (result) => {
      if (result !== null) delete (result as Record<string, unknown>)["effectiveGasPrice"];
      return result;
    });

    it("without effectiveGasPrice: the price is the transaction's", async () => {
      const { published } = await publishThrough(withoutPrice);
      const [first] = published;
      const receipt = await fresh.call("eth_getTransactionReceipt", [first?.transactionHash]);
      expect(toQuantity(first?.gasPrice ?? 0n)).to.equal((receipt as Record<string, string>)["effectiveGasPrice"]);
    });

    it("without any price: everything is published at an unknown price", async () => {
      const { published } = await publishThrough((request, forward) =>
        request.method === "eth_getTransactionByHash" ? { result: null } : withoutPrice(request, forward),
      );
      expect(published.map(({ gasPrice }) => gasPrice)).to.deep.equal(records.map(() => 0n));
      await expectPublished();
    });

    it("with a block gas limit of 2^64 - 1: everything is published", async () => {
      await publishThrough(
        changeResult("eth_getBlockByNumber", (block) => ({ ...(block as object), gasLimit: "0xffffffffffffffff" })),
      );
      await expectPublished();
    });

    it("without eth_maxPriorityFeePerGas: everything is published", async () => {
      const error = { code: -32601, message: "the method eth_maxPriorityFeePerGas does not exist/is not available" };
      await publishThrough(({ method }) => (method === "eth_maxPriorityFeePerGas" ? { error } : undefined));
      await expectPublished();
    });

    it("with a receipt that comes and goes: each root is included once", async () => {
      let time = 0;
      await publishThrough(changeResult("eth_getTransactionReceipt", (result) => (time++ % 2 === 0 ? null : result)));
      await expectPublished();
      expect(emitted("included")).to.have.lengthOf(USERS);
    });

    it("with a transaction count that goes up and down: nothing is reorganized or sent twice", async () => {
      const before = Number(await fresh.call("eth_getTransactionCount", [fresh.owner, "latest"]));
      let time = 0;
      await publishThrough(async ({ method, params }) => {
        if (method !== "eth_getTransactionCount" || params[1] !== "latest" || time++ % 2 === 0) return undefined;
        const head = Number(await fresh.call("eth_blockNumber", []));
        return { result: await fresh.call(method, [params[0], toQuantity(head - 1)]) };
      });
      await expectPublished();
      expect([emitted("reorganized"), emitted("included").length]).to.deep.equal([[], USERS]);
      const after = Number(await fresh.call("eth_getTransactionCount", [fresh.owner, "latest"]));
      expect(after - before).to.equal(USERS);
    });
  });
});

/**
 * A node that rejects transactions with a lower tip, as Polygon's nodes do.
 * @param gwei the minimum per unit of gas
 */
function minimumTip(gwei: bigint): RpcRule {
  return ({ method, params }) => {
    if (method === "eth_maxPriorityFeePerGas") return { result: toQuantity(15n * GWEI) };
    if (method !== SEND) return undefined;
    const tip = BigInt((params[0] as Record<string, string>)["maxPriorityFeePerGas"] ?? 0);
    const message = `transaction underpriced: gas tip cap ${tip}, minimum needed ${gwei * GWEI}`;
    return tip < gwei * GWEI ? { error: { code: -32000, message } } : undefined;
  };
}
