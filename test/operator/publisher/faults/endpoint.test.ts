import { expect } from "chai";
import { keccak256, parseUnits, Wallet } from "ethers";
import { setTimeout as sleep } from "node:timers/promises";
import { TransportError } from "../../../../packages/keyroot/src/errors.ts";
import { type RpcCall, rpcCaller } from "../../../../packages/keyroot/src/transport/jsonRpc.ts";
import { type Anvil, describeOnAnvil, startAnvil } from "../../../../fixtures/anvil/anvil.ts";
import { freshRegistry } from "../../../../fixtures/freshRegistry.ts";
import { closedAfterEach, failure, temporaryFolder } from "../../../support/support.ts";
import * as control from "../../../../fixtures/anvil/anvilControl.ts";
import { appliesTo, FAULT_NAMES, type FaultName } from "../../../../fixtures/publisher/faults.ts";
import { type FaultyEndpoint, startFaultyEndpoint } from "../../../../fixtures/publisher/faultyEndpoint.ts";

/** The key of the first account of Hardhat's and Anvil's chains. */
const KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const wallet = new Wallet(KEY);
const GWEI = parseUnits("1", "gwei");
const TIMEOUT_MS = 150;

/** Signs a transaction of the wallet to itself. */
async function sign(call: RpcCall, changes: { nonce?: number; maxFeePerGas?: bigint } = {}): Promise<string> {
  const nonce = Number(await call("eth_getTransactionCount", [wallet.address, "latest"]));
  const chainId = Number(await call("eth_chainId", []));
  const fees = { maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: GWEI };
  return wallet.signTransaction({ type: 2, to: wallet.address, gasLimit: 21_000, nonce, chainId, ...fees, ...changes });
}

const receiptOf = (call: RpcCall, raw: string) => call("eth_getTransactionReceipt", [keccak256(raw)]);

describe("the faulty endpoint", () => {
  const fresh = freshRegistry();
  const closing = closedAfterEach();
  let endpoint: FaultyEndpoint;
  let call: RpcCall;
  let batchedCall: RpcCall;
  beforeEach(async () => {
    endpoint = closing(await startFaultyEndpoint(fresh.rpcUrl, { slowMs: 300, retryAfterS: 7, lag: 2 }));
    call = rpcCaller(endpoint.url, { maxBytes: 2 ** 20, timeoutMs: TIMEOUT_MS });
    batchedCall = rpcCaller(endpoint.url, { maxBytes: 2 ** 20, timeoutMs: TIMEOUT_MS, batchSize: 100 });
  });

  /** Sends a transaction that meets a fault. @returns what the client receives, and whether the chain has the transaction */
  const send = async (fault: FaultName) => {
    const raw = await sign(fresh.call);
    endpoint.inject(fault, { methods: ["eth_sendRawTransaction"] });
    const received = await call("eth_sendRawTransaction", [raw]).catch((error: unknown) => error);
    await sleep(fault === "slow" ? 2 * TIMEOUT_MS : 0);
    expect(endpoint.injected).to.deep.equal([{ fault, method: "eth_sendRawTransaction", call: 1 }]);
    const included = (await receiptOf(fresh.call, raw)) !== null;
    return {
      received: received instanceof TransportError ? `${received.code}: ${received.message}` : received,
      included,
      raw,
    };
  };

  it("has no faults until they are injected, for single calls and batches", async () => {
    const [chainId, ...accounts] = await Promise.all([
      batchedCall("eth_chainId", []),
      ...Array.from({ length: 3 }, () => batchedCall("eth_accounts", [])),
    ]);
    expect(Number(chainId)).to.equal(fresh.chainId);
    const [, ...others] = accounts;
    expect(others).to.deep.equal([accounts[0], accounts[0]]);
    expect(await call("eth_chainId", [])).to.equal(chainId);
    expect([...endpoint.calls]).to.deep.equal([
      ["eth_chainId", 2],
      ["eth_accounts", 3],
    ]);
    expect(endpoint.count()).to.equal(0);
  });

  const cases: Partial<Record<FaultName, { received: RegExp; included: boolean }>> = {
    silenceBefore: { received: /^TIMEOUT/, included: false },
    silenceAfter: { received: /^TIMEOUT/, included: true },
    slow: { received: /^TIMEOUT/, included: true },
    resetBefore: { received: /^UNREACHABLE/, included: false },
    resetAfter: { received: /^UNREACHABLE/, included: true },
    tooManyRequests: { received: /^RPC_ERROR.*HTTP status 429/, included: false },
    serverError: { received: /^RPC_ERROR.*HTTP status 500/, included: false },
    badGatewayAfter: { received: /^RPC_ERROR.*HTTP status 502/, included: true },
    unavailable: { received: /^RPC_ERROR.*HTTP status 503/, included: false },
    limitExceeded: { received: /^RPC_ERROR.*error -32005: "request rate limit exceeded"/, included: false },
    internalError: { received: /^RPC_ERROR.*error -32603: "Internal error"/, included: false },
    wrongId: { received: /^RPC_ANSWER_INVALID/, included: true },
    garbage: { received: /^RPC_ANSWER_INVALID/, included: false },
    truncated: { received: /^RPC_ANSWER_INVALID/, included: true },
    nonceTooLow: { received: /^RPC_ERROR.*"nonce too low"/, included: false },
    nonceTooLowAfter: { received: /^RPC_ERROR.*"nonce too low"/, included: true },
    alreadyKnown: { received: /^RPC_ERROR.*"already known"/, included: false },
    alreadyKnownAfter: { received: /^RPC_ERROR.*"already known"/, included: true },
    underpriced: { received: /^RPC_ERROR.*"replacement transaction underpriced"/, included: false },
    underpricedAfter: { received: /^RPC_ERROR.*"replacement transaction underpriced"/, included: true },
    poolFull: { received: /^RPC_ERROR.*"txpool is full"/, included: false },
    sentTwice: { received: /^RPC_ERROR.*(already|nonce)/, included: true },
  };
  for (const [fault, { received, included }] of Object.entries(cases)) {
    it(`${fault}: the client receives ${received.source.replace(/\W+/g, " ").trim()}, the chain ${included ? "has" : "does not have"} the transaction`, async () => {
      const result = await send(fault as FaultName);
      expect(result.received).to.match(received);
      expect(result.included).to.equal(included);
    });
  }

  it("dropped: the client receives the right hash, the chain does not have the transaction", async () => {
    const { received, included, raw } = await send("dropped");
    expect([received, included]).to.deep.equal([keccak256(raw), false]);
  });

  it("otherHash: the client receives another hash, the chain has the transaction", async () => {
    const { received, included, raw } = await send("otherHash");
    expect(received)
      .to.match(/^0x[0-9a-f]{64}$/)
      .and.not.equal(keccak256(raw));
    expect(included).to.be.true;
  });

  it("wrongType: the result has a type that no method has", async () => {
    expect((await send("wrongType")).received).to.deep.equal({ no: ["sense"] });
  });

  it("nothingKnown: a receipt that the chain has is missing", async () => {
    const raw = await sign(fresh.call);
    await fresh.call("eth_sendRawTransaction", [raw]);
    endpoint.inject("nothingKnown");
    expect([await receiptOf(call, raw), endpoint.count("nothingKnown")]).to.deep.equal([null, 1]);
    expect(await receiptOf(call, raw)).to.include({ status: "0x1" });
  });

  it("lagging: the state some blocks ago is returned as the latest", async () => {
    const read = async (of: RpcCall) => [
      Number(await of("eth_blockNumber", [])),
      Number(await of("eth_getTransactionCount", [wallet.address, "latest"])),
    ];
    for (let i = 0; i < 3; i++) await fresh.call("eth_sendRawTransaction", [await sign(fresh.call)]);
    const actual = await read(fresh.call);
    endpoint.inject("lagging", { times: 2 });
    expect(await read(call)).to.deep.equal(actual.map((number) => number - 2));
    expect(await read(call)).to.deep.equal(actual);
  });

  it("sends Retry-After with status 429", async () => {
    endpoint.inject("tooManyRequests");
    const { status, headers } = await fetch(endpoint.url, { method: "POST", body: '{"method":"eth_chainId"}' });
    expect([status, headers.get("Retry-After")]).to.deep.equal([429, "7"]);
  });

  it("answers 429 above the rate limit, until the rate is lower", async () => {
    const window = 400;
    endpoint.limitRate(3, window);
    const answers = async () =>
      (await Promise.allSettled([1, 2, 3, 4, 5].map(() => call("eth_chainId", [])))).map(({ status }) => status);
    expect((await answers()).toSorted()).to.deep.equal(["fulfilled", "fulfilled", "fulfilled", "rejected", "rejected"]);
    expect(endpoint.count("tooManyRequests")).to.equal(2);
    await sleep(window);
    await call("eth_chainId", []);
  });

  it("lets one call of a batch fail alone, and all of them if the connection fails", async () => {
    const two = () => Promise.allSettled([batchedCall("eth_chainId", []), batchedCall("eth_accounts", [])]);
    endpoint.inject("internalError", { methods: ["eth_accounts"] });
    expect((await two()).map(({ status }) => status)).to.deep.equal(["fulfilled", "rejected"]);
    endpoint.inject("resetBefore", { methods: ["eth_accounts"] });
    expect((await two()).map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    expect((await two()).map(({ status }) => status)).to.deep.equal(["fulfilled", "fulfilled"]);
  });

  it("lets the requested number of calls pass, hits the requested number, and no other method", async () => {
    endpoint.inject("serverError", { methods: ["eth_chainId"], after: 1, times: 2 });
    const results: string[] = [];
    for (let i = 0; i < 5; i++) {
      await call("eth_accounts", []);
      results.push(
        await call("eth_chainId", []).then(
          () => "ok",
          () => "failed",
        ),
      );
    }
    expect(results).to.deep.equal(["ok", "failed", "failed", "ok", "ok"]);
    expect(endpoint.injected.map(({ call }) => call)).to.deep.equal([4, 6]);
  });

  it("injects the same random faults for the same seed, at the requested rate", async () => {
    const faultsOf = async (seed: number) => {
      const endpoint = closing(await startFaultyEndpoint(fresh.rpcUrl));
      endpoint.injectAtRandom({ seed, perMille: 200, faults: ["serverError", "garbage", "wrongId", "nonceTooLow"] });
      const call = rpcCaller(endpoint.url, { maxBytes: 2 ** 20, timeoutMs: 5_000 });
      for (let i = 0; i < 300; i++) await call("eth_chainId", []).catch(() => undefined);
      return endpoint.injected;
    };
    const [one, again, other] = await Promise.all([faultsOf(1), faultsOf(1), faultsOf(2)]);
    expect(one).to.deep.equal(again).and.not.deep.equal(other);
    expect(one.length).to.be.within(30, 90);
    expect(new Set(one.map(({ fault }) => fault))).to.have.keys("serverError", "garbage", "wrongId");
  });

  it("stops all faults on request", async () => {
    endpoint.inject("serverError", { times: Infinity });
    endpoint.injectAtRandom({ seed: 1, perMille: 1000 });
    endpoint.limitRate(0, 1000);
    endpoint.stopFaults();
    for (let i = 0; i < 20; i++) await call("eth_chainId", []);
    expect(endpoint.count()).to.equal(0);
  });

  it("has faults for every kind of call, each tested above", () => {
    for (const method of ["eth_chainId", "eth_getTransactionReceipt", "eth_sendRawTransaction"]) {
      expect(FAULT_NAMES.some((fault) => appliesTo(fault, method))).to.be.true;
    }
    const others: FaultName[] = ["dropped", "otherHash", "wrongType", "nothingKnown", "lagging"];
    expect([...Object.keys(cases), ...others].toSorted()).to.deep.equal(FAULT_NAMES.toSorted());
  });

  it("runs hooks before each call and before each response", async () => {
    const hooks: string[] = [];
    endpoint.onCall = (method, number) => hooks.push(`${number} ${method}`);
    endpoint.onAnswer = () => hooks.push("answered");
    await call("eth_chainId", []);
    await call("eth_accounts", []);
    expect(hooks).to.deep.equal(["1 eth_chainId", "answered", "2 eth_accounts", "answered"]);
  });

  it("answers 502 while the chain is down, and continues with a chain at another address", async () => {
    const { chainUrl } = endpoint;
    endpoint.chainUrl = "http://127.0.0.1:1";
    expect(await failure(call("eth_chainId", [])))
      .to.have.property("message")
      .that.includes("502");
    endpoint.chainUrl = chainUrl;
    await call("eth_chainId", []);
  });
});

describeOnAnvil("faults of the chain", () => {
  const folder = temporaryFolder();
  const closing = closedAfterEach();
  let anvil: Anvil;
  let call: RpcCall;
  const caller = (url: string) => rpcCaller(url, { maxBytes: 2 ** 24, timeoutMs: 10_000 });
  beforeEach(async () => {
    anvil = closing(await startAnvil());
    call = caller(anvil.url);
  });
  const blockNumber = async () => Number(await call("eth_blockNumber", []));
  const sent = async (changes = {}) => {
    const raw = await sign(call, changes);
    await call("eth_sendRawTransaction", [raw]);
    return raw;
  };

  /** Anvil responds before the block is made. */
  const mined = async () => {
    const raw = await sent();
    while ((await receiptOf(call, raw)) === null) await sleep(5);
    return raw;
  };

  for (const blocks of [1, 5]) {
    it(`reorganize: the transactions of the last ${blocks} blocks are gone, and may be included in other blocks`, async () => {
      const raws: string[] = [];
      for (let i = 0; i < 6; i++) raws.push(await mined());
      const lost = raws.slice(6 - blocks);
      const [kept = ""] = raws;
      await control.reorganize(call, blocks);
      expect(await blockNumber()).to.equal(6);
      expect(await receiptOf(call, kept)).to.include({ status: "0x1" });
      for (const raw of lost) expect(await receiptOf(call, raw)).to.be.null;
      await control.reorganizeWith(
        call,
        blocks,
        lost.map((raw, block) => ({ raw, block })),
      );
      for (const raw of lost) expect(await receiptOf(call, raw)).to.include({ status: "0x1" });
    });
  }

  it("stopMining, mine, resumeMining: transactions wait until blocks are made again", async () => {
    await control.stopMining(call);
    const raw = await sent();
    expect([await receiptOf(call, raw), await control.waitingTransactions(call)]).to.deep.equal([null, 1]);
    await control.mine(call, 3);
    expect(await receiptOf(call, raw)).to.include({ status: "0x1" });
    expect(await blockNumber()).to.equal(3);
    const next = await sent();
    expect(await receiptOf(call, next)).to.be.null;
    await control.resumeMining(call);
    expect(await receiptOf(call, next)).to.include({ status: "0x1" });
  });

  it("setNextBaseFee: transactions that offer less wait", async () => {
    await control.stopMining(call);
    const raw = await sent({ maxFeePerGas: 5n * GWEI });
    await control.setNextBaseFee(call, 50n * GWEI);
    await control.mine(call, 1);
    expect(await receiptOf(call, raw)).to.be.null;
  });

  it("forget: the node drops a pending transaction", async () => {
    await control.stopMining(call);
    const raw = await sent();
    await control.forget(call, keccak256(raw));
    await control.mine(call, 1);
    expect([await receiptOf(call, raw), await control.waitingTransactions(call)]).to.deep.equal([null, 0]);
  });

  it("rejects real transactions: already known, nonce too low, replacement transaction underpriced", async () => {
    await control.stopMining(call);
    const raw = await sent();
    const nonce = 0;
    const messageOf = async (raw: string) => ((await failure(call("eth_sendRawTransaction", [raw]))) as Error).message;
    expect(await messageOf(raw)).to.include("already imported");
    expect(await messageOf(await sign(call, { nonce, maxFeePerGas: 90n * GWEI }))).to.include("underpriced");
    await control.mine(call, 1);
    expect(await messageOf(await sign(call, { nonce }))).to.include("nonce too low");
  });

  it("restarts from its saved state with its blocks and receipts", async () => {
    const state = `${folder.path}/state.json`;
    const first = closing(await startAnvil("--state", state));
    call = caller(first.url);
    const raw = await mined();
    await first.stop();
    const second = closing(await startAnvil("--state", state));
    call = caller(second.url);
    expect(await blockNumber()).to.equal(1);
    expect(await receiptOf(call, raw)).to.include({ status: "0x1" });
  });
});
