import { expect } from "chai";
import type { AuditReport } from "@keyroot/operator/audit";
import { TransportError } from "keyroot/internal/errors";
import { type RpcCall, rpcCaller } from "keyroot/internal/transport";
import { nodeAnswerTo } from "../../../packages/operator/src/rpc/nodeAnswers.ts";
import { Chain } from "../../../packages/operator/src/publisher/chain/chain.ts";
import { waitForFinality } from "../../../packages/operator/src/follow/index.ts";
import { WatchState } from "../../../packages/operator/src/watch/watchState.ts";
import { auditedWorld, LIMITS, outcomeOf, poll } from "../../support/chain/auditedWorld.ts";
import { describeOnBoth, FAST_RETRY } from "../../support/chain/freshRegistry.ts";
import { ENDLESS_MS } from "../../support/endless.ts";
import { sampleRecords } from "../../support/samples.ts";
import {
  changeResult,
  firstTimes,
  type RpcOutcome,
  type RpcRule,
  startRpcProxy,
} from "../../support/servers/rpcProxy.ts";
import { serve } from "../../support/servers/servers.ts";
import { closedAfterEach, failure } from "../../support/support.ts";

const error = (code: number, message: string, status?: number): RpcOutcome => ({
  error: { code, message },
  ...(status !== undefined && { status }),
});

const LOGS = "eth_getLogs";
const RECEIPT = "eth_getTransactionReceipt";
const BLOCK = "eth_getBlockByNumber";
const CALL = "eth_call";
const SEND = "eth_sendRawTransaction";

/** Answers of nodes and providers, and the reaction to them. */
const ANSWERS: readonly [who: string, method: string, outcome: RpcOutcome, reaction: string, means?: string][] = [
  ["a reset connection", CALL, { ending: "reset" }, "repeat"],
  ["a page of a proxy with status 200", CALL, { status: 200, body: "<html>maintenance</html>" }, "repeat"],
  ["an empty body", CALL, { status: 200, body: "" }, "repeat"],
  ["a plain 429", CALL, { status: 429, body: "Too Many Requests" }, "repeat"],
  ["nginx's 502", CALL, { status: 502, body: "<html>bad gateway</html>" }, "repeat"],
  ["nginx's 504", CALL, { status: 504 }, "repeat"],
  ["nginx's 504 for logs", LOGS, { status: 504 }, "narrow"],
  ["Cloudflare's 522", CALL, { status: 522 }, "repeat"],
  ["a missing key", CALL, error(-32000, "unauthorized", 401), "end"],
  ["Envoy, without a backend", CALL, error(-32000, "no healthy upstream", 503), "repeat"],
  ["QuickNode's rate limit", CALL, error(-32007, "50/second request limit reached - reduce calls"), "repeat"],
  ["QuickNode's rate limit, for logs", LOGS, error(-32007, "50/second request limit reached"), "repeat"],
  ["Arc's rate limit", CALL, error(-32011, "request limit reached", 429), "repeat"],
  ["Base's rate limit", CALL, error(-32016, "over rate limit"), "repeat"],
  ["Infura's rate limit", CALL, error(-32005, "daily request count exceeded, request rate limited"), "repeat"],
  ["proxyd, without a backend", CALL, error(-32011, "no backends available for method"), "repeat"],
  ["Cloudflare's internal error", CALL, error(-32603, "Internal error"), "repeat"],
  ["Geth, one block behind", CALL, error(-32000, "header not found"), "repeat", "block unknown"],
  ["Geth, one block behind, by hash", CALL, error(-32000, "header for hash not found"), "repeat", "block unknown"],
  ["Besu, one block behind", CALL, error(-32000, "Block not found"), "repeat", "block unknown"],
  ["Reth, one block behind", CALL, error(-32001, "block not found: 0x12"), "repeat", "block unknown"],
  [
    "Anvil, one block behind",
    CALL,
    error(-32602, "BlockOutOfRangeError: block height is 5"),
    "repeat",
    "block unknown",
  ],
  ["Avalanche, one block behind", CALL, error(-32000, "cannot query unfinalized data"), "repeat", "block unknown"],
  [
    "Geth, one block behind, for logs",
    LOGS,
    error(-32602, "block range extends beyond current head block: requested 9, head 8"),
    "repeat",
    "block unknown",
  ],
  ["Geth, without a finalized block", BLOCK, error(-32000, "finalized block not found"), "repeat", "block unknown"],
  ["Besu, without a finalized block", BLOCK, error(-39001, "Unknown block"), "repeat", "block unknown"],
  [
    "Erigon, without a finalized block",
    BLOCK,
    error(-39001, 'block "finalized" not available'),
    "repeat",
    "block unknown",
  ],
  ["Geth, while it indexes", RECEIPT, error(-32000, "transaction indexing is in progress"), "repeat"],
  ["Geth, without the state", CALL, error(-32000, "missing trie node ab12 (path )"), "repeat", "state pruned"],
  ["Nethermind, without the state", CALL, error(-32002, "No state available for block 0x1"), "repeat", "state pruned"],
  ["Erigon, without the state", CALL, error(-32000, "old data not available due to pruning"), "repeat", "state pruned"],
  ["Reth, without the block", BLOCK, error(4444, "pruned history unavailable"), "end", "history pruned"],
  [
    "Reth's proof window",
    "eth_getProof",
    error(-32602, "distance to target block exceeds maximum proof window"),
    "end",
  ],
  [
    "Polygon Edge, without EIP-1898",
    CALL,
    error(-32602, "invalid argument 1: json: cannot unmarshal object into Go value of type string"),
    "end",
    "no block hash",
  ],
  ["a reverted call", CALL, error(3, "execution reverted"), "end"],
  ["a reverted call with an internal error", CALL, error(-32603, "execution reverted"), "end"],
  ["an unknown method", CALL, error(-32601, "the method does not exist"), "end"],
  ["Infura's number of results", LOGS, error(-32005, "query returned more than 10000 results"), "narrow"],
  ["Infura's range", LOGS, error(-32602, "range 1000000 exceeds limit of 10000"), "narrow"],
  ["Alchemy's range", LOGS, error(-32600, "up to a 10 block range"), "narrow"],
  ["QuickNode's range", LOGS, error(-32614, "eth_getLogs is limited to a 10,000 range", 413), "narrow"],
  [
    "Reth's number of results",
    LOGS,
    error(-32602, "query exceeds max results 20000, retry with the range 1-9"),
    "narrow",
  ],
  ["Ankr's range", LOGS, error(-32600, "block range is too wide"), "narrow"],
  ["a limit in unknown words", LOGS, error(-32000, "please ask for less"), "narrow"],
  ["Geth's repeated transaction", SEND, error(-32000, "already known"), "known"],
  ["Nethermind's repeated transaction", SEND, error(-32010, "AlreadyKnown"), "known"],
  ["Erigon's repeated transaction", SEND, error(-32000, "ALREADY_EXISTS: already known"), "known"],
  ["Nethermind's replacement", SEND, error(-32010, "ReplacementNotAllowed"), "known", "same nonce"],
  ["Erigon's replacement", SEND, error(-32000, "INTERNAL_ERROR: could not replace existing tx"), "known", "same nonce"],
  ["Nethermind's fee", SEND, error(-32010, "FeeTooLow, MaxFeePerGas too low."), "wait", "fee too low"],
  ["Nethermind's full pool", SEND, error(-32010, "FeeTooLowToCompete"), "wait", "fee too low"],
  [
    "Polygon's minimum tip",
    SEND,
    error(-32000, "transaction underpriced: gas tip cap 15000000000, minimum needed 25000000000"),
    "wait",
    "fee too low",
  ],
  ["a delegated owner", SEND, error(-32000, "in-flight transaction limit reached for delegated accounts"), "wait"],
  ["a delegated owner's gap", SEND, error(-32000, "gapped-nonce tx from delegated accounts"), "wait"],
  ["a rate limit for transactions", SEND, error(-32016, "over rate limit", 429), "repeat"],
  ["Besu's fee cap", SEND, error(-32000, "Transaction fee cap exceeded"), "end", "fee cap"],
  [
    "Geth's fee cap",
    SEND,
    error(-32000, "tx fee (1.52 ether) exceeds the configured cap (1.00 ether)"),
    "end",
    "fee cap",
  ],
  ["a poor owner", SEND, error(-32000, "insufficient funds for gas * price + value"), "end", "no funds"],
  [
    "a large transaction",
    SEND,
    error(-32000, "oversized data: transaction size 200000, limit 131072"),
    "end",
    "oversized",
  ],
];

describeOnBoth("ordinary nodes: reads", (startChain) => {
  const world = auditedWorld(startChain);
  const closing = closedAfterEach();
  const records = sampleRecords(6);

  const startProxy = async (rule?: RpcRule) => closing(await startRpcProxy(world.fresh.rpcUrl, rule));
  const callerOf = (url: string, timeoutMs = ENDLESS_MS): RpcCall => rpcCaller(url, { maxBytes: 2 ** 20, timeoutMs });

  describe("nodeAnswerTo", () => {
    for (const [who, method, outcome, reaction, means] of ANSWERS) {
      it(`answers ${reaction} to ${who}`, async () => {
        const proxy = await startProxy(() => outcome);
        const answer = nodeAnswerTo(await failure(callerOf(proxy.url)(method, [])), method);
        expect([answer.reaction, answer.means]).to.deep.equal([reaction, means]);
        expect(answer.source).to.not.equal("No row describes this answer.");
      });
    }

    it("answers narrow to logs that take too long", () => {
      expect(nodeAnswerTo(new TransportError("TIMEOUT", "late"), LOGS).reaction).to.equal("narrow");
      expect(nodeAnswerTo(new TransportError("TIMEOUT", "late"), CALL).reaction).to.equal("repeat");
    });

    it("answers repeat to a provider's error without a code, and to Hardhat's code for failed requests", async () => {
      for (const cause of [new Error("HHE101: Cannot connect"), Object.assign(new Error("reset"), { code: -1 })]) {
        const call = rpcCaller({ request: () => Promise.reject(cause) }, { maxBytes: 1, timeoutMs: ENDLESS_MS });
        expect(nodeAnswerTo(await failure(call(CALL, [])), CALL).reaction).to.equal("repeat");
      }
    });
  });

  describe("an audit", () => {
    beforeEach(async () => {
      await world.publish(records.slice(0, 3));
      await world.publish(records.slice(3));
    });

    const auditVia = (url: string, timeoutMs?: number): Promise<AuditReport> =>
      world.audit({ call: callerOf(url, timeoutMs) });
    const passes = async (rule: RpcRule, timeoutMs?: number) => {
      const proxy = await startProxy(rule);
      expect(outcomeOf(await auditVia(proxy.url, timeoutMs))).to.deep.equal({ verdict: "passed", codes: [] });
      return proxy;
    };
    const once = (method: string, outcome: RpcOutcome) => firstTimes(1, method, outcome);
    const atHash = ({ method, params }: { method: string; params: readonly unknown[] }) =>
      method === CALL && typeof params[1] === "object";

    const FAULTS: readonly [string, () => RpcRule][] = [
      ["QuickNode's rate limit", () => once(CALL, error(-32007, "50/second request limit reached"))],
      ["a rate limit with status 429", () => once(LOGS, error(-32011, "request limit reached", 429))],
      ["a requested wait", () => once(BLOCK, { status: 429, headers: { "Retry-After": "0" } })],
      ["a gateway's page", () => once("eth_chainId", { status: 502, body: "<html>bad gateway</html>" })],
      ["a page with status 200", () => once(CALL, { status: 200, body: "<html>" })],
      ["an empty body", () => once(LOGS, { status: 200, body: "" })],
      ["null instead of the newest block", () => once(BLOCK, { result: null })],
      ["a node behind that knows no block hash", () => firstTimes(2, atHash, error(-32000, "header not found"))],
      [
        "a node behind that returns no events of the newest block",
        () => {
          let times = 0;
          return changeResult(LOGS, (logs) => (times++ === 0 ? (logs as unknown[]).slice(0, -1) : logs));
        },
      ],
      [
        "a node behind without the block of an event",
        () => firstTimes(1, ({ method, params }) => method === BLOCK && params[0] !== "latest", { result: null }),
      ],
      [
        "a node without EIP-1898",
        () => (request) =>
          atHash(request)
            ? error(-32602, "invalid argument 1: json: cannot unmarshal object into Go value")
            : undefined,
      ],
    ];
    for (const [fault, rule] of FAULTS) {
      it(`passes despite ${fault}`, async () => {
        await passes(rule());
      });
    }

    it("passes although any one of its requests is dropped", async () => {
      const { requests } = await passes(() => undefined);
      for (let dropped = 1; dropped <= requests.length; dropped++) {
        let count = 0;
        await passes(() => (++count === dropped ? { ending: "reset" } : undefined));
      }
    });

    describe("of many blocks", () => {
      const BLOCKS = 300;
      beforeEach(() => world.fresh.call("hardhat_mine", [`0x${BLOCKS.toString(16)}`]));

      const limited =
        (most: number, outcome: RpcOutcome): RpcRule =>
        ({ method, params: [filter] }) => {
          const { fromBlock, toBlock } = (filter ?? {}) as { fromBlock: string; toBlock: string };
          return method === LOGS && Number(toBlock) - Number(fromBlock) + 1 > most ? outcome : undefined;
        };
      const LIMITS_OF_LOGS: readonly [string, number, RpcOutcome][] = [
        ["Alchemy's", 10, error(-32600, "eth_getLogs requests with up to a 10 block range")],
        ["QuickNode's", 10, error(-32614, "eth_getLogs is limited to a 10 range", 413)],
        [
          "Infura's",
          64,
          error(-32005, "query returned more than 10000 results. Try with this block range [0x1, 0x40]."),
        ],
        ["Merkle's", 100, error(-32000, "eth_getLogs range is too large, max is 100 blocks")],
        ["an unknown", 16, error(-32000, "please ask for less")],
      ];
      for (const [whose, most, outcome] of LIMITS_OF_LOGS) {
        it(`asks for as many blocks as ${whose} limit allows`, async () => {
          const proxy = await passes(limited(most, outcome));
          // Half of the accepted range if the endpoint suggests no number.
          expect(proxy.count(LOGS)).to.be.at.most((2 * (BLOCKS + 10)) / most + 12);
        });
      }

      it("narrows a range that the endpoint does not answer in time", async () => {
        await passes(limited(100, { ending: "silence" }), 2_000);
      });
    });

    it("starts again at a newer block if the node deletes the state of its block", async () => {
      const old = await world.head();
      await world.fresh.call("hardhat_mine", []);
      let isPruned = false;
      const proxy = await startProxy(({ params: [, at] }) => {
        const { blockHash } = (at ?? {}) as { blockHash?: string };
        if (blockHash === old && isPruned) return error(-32000, "missing trie node ab (path )");
        return undefined;
      });
      // The node's newest block is the old one until the files are read.
      const inner = callerOf(proxy.url);
      const call: RpcCall = async (method, params) => {
        if (method === BLOCK && params[0] === "latest" && !isPruned) return inner("eth_getBlockByHash", [old, false]);
        if (method === LOGS) isPruned = true;
        return inner(method, params);
      };
      const report = await world.audit({ call });
      expect(outcomeOf(report)).to.deep.equal({ verdict: "passed", codes: [] });
      expect(report.evidence.block.hash).to.not.equal(old);
    });

    it("names the remedy if a pinned block's state is deleted", async () => {
      const proxy = await startProxy((request) =>
        atHash(request) ? error(-32000, "missing trie node ab (path )") : undefined,
      );
      const at = { blockHash: await world.head() };
      const thrown = await failure(world.audit({ call: callerOf(proxy.url), at }));
      expect(thrown).to.be.instanceOf(TransportError).with.property("message").that.includes("archive node");
    });

    it("repeats a request that a file host rejects because of its rate", async () => {
      let count = 0;
      const host = closing(
        await serve((request, response) => {
          if (++count === 1) response.writeHead(429, { "Retry-After": "0" }).end();
          else
            void fetch(`${world.fresh.merkleUrl}${request.url ?? ""}`).then(async (got) =>
              response.end(await got.text()),
            );
        }),
      );
      const files = { merkleUrl: host.url, ...LIMITS, retry: FAST_RETRY };
      expect(outcomeOf(await world.audit({ files }))).to.deep.equal({ verdict: "passed", codes: [] });
      expect(count).to.equal(3);
    });

    it("still finds events that every answer withholds", async () => {
      const proxy = await startProxy(changeResult(LOGS, (logs) => (logs as unknown[]).slice(0, -1)));
      expect(outcomeOf(await auditVia(proxy.url)).codes).to.include("LOG_WITHHELD");
    });
  });

  describe("a watch", () => {
    const watchVia = async (state: WatchState, rule?: RpcRule) => {
      const proxy = await startProxy(rule);
      return poll({ ...world.pollOptions(), state, call: callerOf(proxy.url) });
    };
    const openState = async () => {
      const { chainId, contract } = world.fresh;
      return WatchState.open(undefined, { chainId, contract });
    };

    it("finds nothing if a node behind returns no events of the newest block", async () => {
      using state = await openState();
      await watchVia(state);
      const root = await world.publish(records);
      const { findings, added } = await watchVia(state, firstTimes(1, LOGS, { result: [] }));
      expect(findings).to.deep.equal([]);
      expect(added.map((one) => one.root)).to.deep.equal([root]);
    });

    it("reports no reorganization if a node behind does not have the last block", async () => {
      using state = await openState();
      await watchVia(state);
      await world.publish(records);
      const isCursor = ({ method, params }: { method: string; params: readonly unknown[] }) =>
        method === BLOCK && params[0] !== "latest";
      const { findings } = await watchVia(state, firstTimes(1, isCursor, { result: null }));
      expect(findings).to.deep.equal([]);
    });
  });

  describe("a publisher", () => {
    for (const [who, outcome] of [
      ["Reth", error(-39001, "unknown block")],
      ["Geth", error(-32000, "finalized block not found")],
      ["a node that answers null", { result: null }],
    ] as const) {
      it(`waits while ${who} knows no finalized block`, async () => {
        const proxy = await startProxy(({ method, params }) => {
          if (method !== BLOCK || params[0] !== "finalized") return undefined;
          return proxy.count(BLOCK) <= 2 ? outcome : undefined;
        });
        const chain = new Chain(callerOf(proxy.url), FAST_RETRY);
        const wait = { timeoutMs: ENDLESS_MS, pollMs: 1, report: () => undefined };
        const final = await waitForFinality(chain, 0, "finalized", wait);
        expect(proxy.count(BLOCK)).to.equal(3);
        proxy.rule = undefined;
        expect(final)
          .to.equal((await chain.finalizedBlock())?.number)
          .and.to.be.a("number");
      });
    }

    it("does not need the first block of a chain", async () => {
      const proxy = await startProxy(({ method, params }) =>
        method === BLOCK && params[0] === "0x0" ? error(4444, "pruned history unavailable") : undefined,
      );
      const chain = new Chain(callerOf(proxy.url), FAST_RETRY);
      expect(await chain.genesisHash(1)).to.equal(undefined);
      expect(proxy.count(BLOCK)).to.equal(0);
      expect(await chain.genesisHash(world.fresh.chainId)).to.equal(undefined);
    });

    it("waits as long as the endpoint requests", async () => {
      const proxy = await startProxy(firstTimes(1, "eth_chainId", { status: 503, headers: { "Retry-After": "1" } }));
      const start = performance.now();
      await new Chain(callerOf(proxy.url), FAST_RETRY).chainId();
      expect(performance.now() - start).to.be.above(950);
    });

    it("does not wait for minutes", async () => {
      const proxy = await startProxy(() => ({ status: 503, headers: { "Retry-After": "3600" } }));
      const thrown = await failure(new Chain(callerOf(proxy.url), FAST_RETRY).chainId());
      expect(thrown).to.include({ code: "RPC_ERROR", status: 503, retryAfter: 3600 });
      expect(proxy.requests).to.have.lengthOf(1);
    });

    it("sends a transaction only once", async () => {
      const proxy = await startProxy(() => ({ ending: "reset" }));
      await failure(new Chain(callerOf(proxy.url), FAST_RETRY).call(SEND, ["0x"]));
      expect(proxy.requests).to.have.lengthOf(1);
    });
  });
});
