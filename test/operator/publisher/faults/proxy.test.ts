import { expect } from "chai";
import { keccak256, parseUnits, Wallet } from "ethers";
import { setTimeout as sleep } from "node:timers/promises";
import { TransportError } from "../../../../packages/keyroot/src/errors.ts";
import { type RpcCall, rpcCaller } from "../../../../packages/keyroot/src/transport/jsonRpc.ts";
import { type Anvil, describeOnAnvil, startAnvil } from "../../../../fixtures/anvil/anvil.ts";
import { freshRegistry } from "../../../../fixtures/freshRegistry.ts";
import { closedAfterEach, failure, temporaryFolder } from "../../../support/support.ts";
import * as control from "../../../../fixtures/anvil/anvilControl.ts";
import { FAULT_NAMES, type FaultName, mayBefall } from "../../../../fixtures/publisher/faults.ts";
import { type FaultyProxy, startFaultyProxy } from "../../../../fixtures/publisher/faultyEndpoint.ts";

/** The key of the first account of Hardhat's and Anvil's chains. */
const KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const wallet = new Wallet(KEY);
const GWEI = parseUnits("1", "gwei");
const PATIENCE_MS = 150;

/** Sends one transaction of the wallet's to itself. */
async function sign(call: RpcCall, changes: { nonce?: number; maxFeePerGas?: bigint } = {}): Promise<string> {
  const nonce = Number(await call("eth_getTransactionCount", [wallet.address, "latest"]));
  const chainId = Number(await call("eth_chainId", []));
  const fees = { maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: GWEI };
  return wallet.signTransaction({ type: 2, to: wallet.address, gasLimit: 21_000, nonce, chainId, ...fees, ...changes });
}

const receiptOf = (call: RpcCall, raw: string) => call("eth_getTransactionReceipt", [keccak256(raw)]);

describe("the faulty proxy", () => {
  const fresh = freshRegistry();
  const closing = closedAfterEach();
  let proxy: FaultyProxy;
  let call: RpcCall;
  let together: RpcCall;
  beforeEach(async () => {
    proxy = closing(await startFaultyProxy(fresh.rpcUrl, { slowMs: 300, retryAfterS: 7, lag: 2 }));
    call = rpcCaller(proxy.url, { maxBytes: 2 ** 20, timeoutMs: PATIENCE_MS });
    together = rpcCaller(proxy.url, { maxBytes: 2 ** 20, timeoutMs: PATIENCE_MS, batchSize: 100 });
  });

  /** Sends a transaction while a fault is at work: how the sender fares, and whether the chain has it. */
  const send = async (fault: FaultName) => {
    const raw = await sign(fresh.call);
    proxy.plan(fault, { methods: ["eth_sendRawTransaction"] });
    const told = await call("eth_sendRawTransaction", [raw]).catch((error: unknown) => error);
    await sleep(fault === "slow" ? 2 * PATIENCE_MS : 0);
    expect(proxy.befallen).to.deep.equal([{ fault, method: "eth_sendRawTransaction", call: 1 }]);
    const taken = (await receiptOf(fresh.call, raw)) !== null;
    return { told: told instanceof TransportError ? told.message : told, taken, raw };
  };

  it("is honest until a fault is asked for, with single calls and with batches", async () => {
    const [chainId, ...accounts] = await Promise.all([
      together("eth_chainId", []),
      ...Array.from({ length: 3 }, () => together("eth_accounts", [])),
    ]);
    expect(Number(chainId)).to.equal(fresh.chainId);
    const [, ...others] = accounts;
    expect(others).to.deep.equal([accounts[0], accounts[0]]);
    expect(await call("eth_chainId", [])).to.equal(chainId);
    expect([...proxy.calls]).to.deep.equal([
      ["eth_chainId", 2],
      ["eth_accounts", 3],
    ]);
    expect(proxy.count()).to.equal(0);
  });

  const nobodyAnswers = (ms = PATIENCE_MS) => new RegExp(`did not answer in full within ${ms} ms`);
  const cases: Partial<Record<FaultName, { told: RegExp; taken: boolean }>> = {
    silenceBefore: { told: nobodyAnswers(), taken: false },
    silenceAfter: { told: nobodyAnswers(), taken: true },
    slow: { told: nobodyAnswers(), taken: true },
    resetBefore: { told: /does not answer/, taken: false },
    resetAfter: { told: /does not answer/, taken: true },
    tooManyRequests: { told: /HTTP status 429/, taken: false },
    serverError: { told: /HTTP status 500/, taken: false },
    badGatewayAfter: { told: /HTTP status 502/, taken: true },
    unavailable: { told: /HTTP status 503/, taken: false },
    limitExceeded: { told: /error -32005: "request rate limit exceeded"/, taken: false },
    internalError: { told: /error -32603: "Internal error"/, taken: false },
    wrongId: { told: /something other than JSON-RPC/, taken: true },
    garbage: { told: /something other than JSON-RPC/, taken: false },
    truncated: { told: /something other than JSON-RPC/, taken: true },
    nonceTooLow: { told: /"nonce too low"/, taken: false },
    nonceTooLowAfter: { told: /"nonce too low"/, taken: true },
    alreadyKnown: { told: /"already known"/, taken: false },
    alreadyKnownAfter: { told: /"already known"/, taken: true },
    underpriced: { told: /"replacement transaction underpriced"/, taken: false },
    underpricedAfter: { told: /"replacement transaction underpriced"/, taken: true },
    poolFull: { told: /"txpool is full"/, taken: false },
    sentTwice: { told: /eth_sendRawTransaction with the error/, taken: true },
  };
  for (const [fault, { told, taken }] of Object.entries(cases)) {
    it(`${fault}: the sender hears ${told.source}, the chain ${taken ? "has" : "has not"} the transaction`, async () => {
      const fate = await send(fault as FaultName);
      expect(fate.told).to.match(told);
      expect(fate.taken).to.equal(taken);
    });
  }

  it("dropped: the sender hears the right hash, the chain has not the transaction", async () => {
    const { told, taken, raw } = await send("dropped");
    expect([told, taken]).to.deep.equal([keccak256(raw), false]);
  });

  it("otherHash: the sender hears another hash, the chain has the transaction", async () => {
    const { told, taken, raw } = await send("otherHash");
    expect(told)
      .to.match(/^0x[0-9a-f]{64}$/)
      .and.not.equal(keccak256(raw));
    expect(taken).to.be.true;
  });

  it("wrongType: the result is of a type that none has", async () => {
    expect((await send("wrongType")).told).to.deep.equal({ no: ["sense"] });
  });

  it("nothingKnown: a receipt that the chain has is told as missing", async () => {
    const raw = await sign(fresh.call);
    await fresh.call("eth_sendRawTransaction", [raw]);
    proxy.plan("nothingKnown");
    expect([await receiptOf(call, raw), proxy.count("nothingKnown")]).to.deep.equal([null, 1]);
    expect(await receiptOf(call, raw)).to.include({ status: "0x1" });
  });

  it("lagging: the state some blocks ago is told as the latest", async () => {
    const ask = async (of: RpcCall) => [
      Number(await of("eth_blockNumber", [])),
      Number(await of("eth_getTransactionCount", [wallet.address, "latest"])),
    ];
    for (let i = 0; i < 3; i++) await fresh.call("eth_sendRawTransaction", [await sign(fresh.call)]);
    const truth = await ask(fresh.call);
    proxy.plan("lagging", { times: 2 });
    expect(await ask(call)).to.deep.equal(truth.map((number) => number - 2));
    expect(await ask(call)).to.deep.equal(truth);
  });

  it("tells with 429 how long to wait", async () => {
    proxy.plan("tooManyRequests");
    const { status, headers } = await fetch(proxy.url, { method: "POST", body: '{"method":"eth_chainId"}' });
    expect([status, headers.get("Retry-After")]).to.deep.equal([429, "7"]);
  });

  it("answers 429 to whoever asks more often than a limit, until there is room again", async () => {
    const window = 400;
    proxy.limitRate(3, window);
    const answers = async () =>
      (await Promise.allSettled([1, 2, 3, 4, 5].map(() => call("eth_chainId", [])))).map(({ status }) => status);
    expect((await answers()).toSorted()).to.deep.equal(["fulfilled", "fulfilled", "fulfilled", "rejected", "rejected"]);
    expect(proxy.count("tooManyRequests")).to.equal(2);
    await sleep(window);
    await call("eth_chainId", []);
  });

  it("lets one call of a batch fail by itself, and all by what befalls the connection", async () => {
    const two = () => Promise.allSettled([together("eth_chainId", []), together("eth_accounts", [])]);
    proxy.plan("internalError", { methods: ["eth_accounts"] });
    expect((await two()).map(({ status }) => status)).to.deep.equal(["fulfilled", "rejected"]);
    proxy.plan("resetBefore", { methods: ["eth_accounts"] });
    expect((await two()).map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    expect((await two()).map(({ status }) => status)).to.deep.equal(["fulfilled", "fulfilled"]);
  });

  it("spares as many calls as it was told, befalls as many, and no other method", async () => {
    proxy.plan("serverError", { methods: ["eth_chainId"], after: 1, times: 2 });
    const fates: string[] = [];
    for (let i = 0; i < 5; i++) {
      await call("eth_accounts", []);
      fates.push(
        await call("eth_chainId", []).then(
          () => "well",
          () => "ill",
        ),
      );
    }
    expect(fates).to.deep.equal(["well", "ill", "ill", "well", "well"]);
    expect(proxy.befallen.map(({ call }) => call)).to.deep.equal([4, 6]);
  });

  it("storms: the same faults for the same seed, others for another, as often as asked for", async () => {
    const storm = async (seed: number) => {
      const proxy = closing(await startFaultyProxy(fresh.rpcUrl));
      proxy.storm({ seed, perMille: 200, faults: ["serverError", "garbage", "wrongId", "nonceTooLow"] });
      const call = rpcCaller(proxy.url, { maxBytes: 2 ** 20, timeoutMs: 5_000 });
      for (let i = 0; i < 300; i++) await call("eth_chainId", []).catch(() => undefined);
      return proxy.befallen;
    };
    const [one, again, other] = await Promise.all([storm(1), storm(1), storm(2)]);
    expect(one).to.deep.equal(again).and.not.deep.equal(other);
    expect(one.length).to.be.within(30, 90);
    expect(new Set(one.map(({ fault }) => fault))).to.have.keys("serverError", "garbage", "wrongId");
  });

  it("is calm when it is told to be", async () => {
    proxy.plan("serverError", { times: Infinity });
    proxy.storm({ seed: 1, perMille: 1000 });
    proxy.limitRate(0, 1000);
    proxy.calm();
    for (let i = 0; i < 20; i++) await call("eth_chainId", []);
    expect(proxy.count()).to.equal(0);
  });

  it("has a fault for every kind of call, and each is tried above", () => {
    for (const method of ["eth_chainId", "eth_getTransactionReceipt", "eth_sendRawTransaction"]) {
      expect(FAULT_NAMES.some((fault) => mayBefall(fault, method))).to.be.true;
    }
    const others: FaultName[] = ["dropped", "otherHash", "wrongType", "nothingKnown", "lagging"];
    expect([...Object.keys(cases), ...others].toSorted()).to.deep.equal(FAULT_NAMES.toSorted());
  });

  it("tells of each call before and after, so that a test can act between", async () => {
    const told: string[] = [];
    proxy.onCall = (method, number) => told.push(`${number} ${method}`);
    proxy.onAnswer = () => told.push("answered");
    await call("eth_chainId", []);
    await call("eth_accounts", []);
    expect(told).to.deep.equal(["1 eth_chainId", "answered", "2 eth_accounts", "answered"]);
  });

  it("says 502 while the chain is away, and goes on where it is back, elsewhere", async () => {
    const { chainUrl } = proxy;
    proxy.chainUrl = "http://127.0.0.1:1";
    expect(await failure(call("eth_chainId", [])))
      .to.have.property("message")
      .that.includes("502");
    proxy.chainUrl = chainUrl;
    await call("eth_chainId", []);
  });
});

describeOnAnvil("the chain's own faults", () => {
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

  /** Anvil answers before the block is made. */
  const mined = async () => {
    const raw = await sent();
    while ((await receiptOf(call, raw)) === null) await sleep(5);
    return raw;
  };

  for (const blocks of [1, 5]) {
    it(`reorganise: the transactions of the last ${blocks} are gone, others may come in their place`, async () => {
      const raws: string[] = [];
      for (let i = 0; i < 6; i++) raws.push(await mined());
      const lost = raws.slice(6 - blocks);
      const [kept = ""] = raws;
      await control.reorganise(call, blocks);
      expect(await blockNumber()).to.equal(6);
      expect(await receiptOf(call, kept)).to.include({ status: "0x1" });
      for (const raw of lost) expect(await receiptOf(call, raw)).to.be.null;
      await control.reorganiseWith(
        call,
        blocks,
        lost.map((raw, block) => ({ raw, block })),
      );
      for (const raw of lost) expect(await receiptOf(call, raw)).to.include({ status: "0x1" });
    });
  }

  it("stopMining, mine, resumeMining: transactions wait until there are blocks again", async () => {
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

  it("setNextBaseFee: who pays less waits", async () => {
    await control.stopMining(call);
    const raw = await sent({ maxFeePerGas: 5n * GWEI });
    await control.setNextBaseFee(call, 50n * GWEI);
    await control.mine(call, 1);
    expect(await receiptOf(call, raw)).to.be.null;
  });

  it("forget: the node knows nothing of a transaction that waited", async () => {
    await control.stopMining(call);
    const raw = await sent();
    await control.forget(call, keccak256(raw));
    await control.mine(call, 1);
    expect([await receiptOf(call, raw), await control.waitingTransactions(call)]).to.deep.equal([null, 0]);
  });

  it("refuses in truth: already known, nonce too low, replacement transaction underpriced", async () => {
    await control.stopMining(call);
    const raw = await sent();
    const nonce = 0;
    const words = async (raw: string) => ((await failure(call("eth_sendRawTransaction", [raw]))) as Error).message;
    expect(await words(raw)).to.include("already imported");
    expect(await words(await sign(call, { nonce, maxFeePerGas: 90n * GWEI }))).to.include("underpriced");
    await control.mine(call, 1);
    expect(await words(await sign(call, { nonce }))).to.include("nonce too low");
  });

  it("starts again from its saved state, and knows its blocks and receipts", async () => {
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
