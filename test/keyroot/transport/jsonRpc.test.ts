import { expect } from "chai";
import type { RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { ArgumentError, type TransportError } from "keyroot";
import { batchingCaller } from "../../../packages/keyroot/src/transport/batches.ts";
import { type Eip1193Provider, rpcCaller } from "../../../packages/keyroot/src/transport/jsonRpc.ts";
import { checkUrl } from "keyroot/internal/transport";
import { serve } from "../../support/servers/servers.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { closedAfterEach, failure } from "../../support/support.ts";
import { ENDLESS_MS } from "../../support/endless.ts";

const SECRET = "d41d8cd98f00b204";
const OPTIONS = { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS };
/** Hostile text with a line feed, 7-bit and 8-bit terminal escape sequences, and a change of the writing direction. */
const HOSTILE = "all is well\n\u001b[2J\u009b31m\u202e";

describe("rpcCaller", () => {
  const closing = closedAfterEach();

  /** Calls a method of an endpoint with this handler. */
  const call = async (handler: RequestListener, method = "eth_chainId", params: unknown[] = []) => {
    const { url } = closing(await serve(handler));
    return rpcCaller(`${url}/v3/${SECRET}`, OPTIONS)(method, params);
  };
  const answers =
    (body: unknown, status = 200): RequestListener =>
    (_, response) =>
      response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
  const result = (value: unknown) => answers({ jsonrpc: "2.0", id: 1, result: value });
  const error = (value: unknown, status?: number) => answers({ jsonrpc: "2.0", id: 1, error: value }, status);

  const messageOf = async (answer: Promise<unknown>) => ((await failure(answer)) as TransportError).message;

  describe("over HTTP", () => {
    it("sends a call in the format of JSON-RPC 2.0", async () => {
      let posted: unknown;
      await call(
        (request, response) => {
          void text(request).then((body) => {
            posted = { method: request.method, type: request.headers["content-type"], ...JSON.parse(body) } as unknown;
            result("0x1")(request, response);
          });
        },
        "eth_call",
        [{ to: "0x00", data: "0x01" }, "latest"],
      );
      expect(posted).to.deep.equal({
        ...{ method: "POST", type: "application/json" },
        ...{ jsonrpc: "2.0", id: 1, method: "eth_call", params: [{ to: "0x00", data: "0x01" }, "latest"] },
      });
    });

    it("returns any result", async () => {
      for (const value of ["0x1", "", 7, null, false, [], { a: 1 }])
        expect(await call(result(value))).to.deep.equal(value);
    });

    it("returns the result if the response's error is null", async () => {
      expect(await call(answers({ jsonrpc: "2.0", id: 1, result: "0x1", error: null }))).to.equal("0x1");
    });

    const notJsonRpc: Record<string, unknown> = {
      "an empty body": "",
      "a web page": "<!doctype html><title>Sign in</title>",
      "a truncated response": '{"jsonrpc":"2.0","id":1,"result":"0x',
      "a string": '"0x1"',
      null: "null",
      "a batch": [{ jsonrpc: "2.0", id: 1, result: "0x1" }],
      "the id of another call": { jsonrpc: "2.0", id: 2, result: "0x1" },
      "an id as a string": { jsonrpc: "2.0", id: "1", result: "0x1" },
      "no id": { jsonrpc: "2.0", result: "0x1" },
      "no result": { jsonrpc: "2.0", id: 1 },
      "an inherited result": '{"jsonrpc":"2.0","id":1,"__proto__":{"result":"0x1"}}',
      "another version": { jsonrpc: "1.0", id: 1, result: "0x1" },
      "no version": { id: 1, result: "0x1" },
      "a megabyte of brackets": "[".repeat(2 ** 19) + "]".repeat(2 ** 19),
    };
    for (const [what, body] of Object.entries(notJsonRpc)) {
      it(`throws RPC_ANSWER_INVALID for ${what}`, async () => {
        expect(await failure(call(answers(body)))).to.include({ name: "TransportError", code: "RPC_ANSWER_INVALID" });
      });
    }

    it("rejects a response with too many values before parsing", async () => {
      // The tests of parseJson check other kinds of values.
      for (const result of [`[${"{},".repeat(2 ** 15)}{}]`, "[".repeat(2 ** 15) + "]".repeat(2 ** 15)]) {
        const error = await failure(call(answers(`{"jsonrpc":"2.0","id":1,"result":${result}}`)));
        expect(error).to.include({ name: "TransportError", code: "RPC_ANSWER_INVALID" });
        expect(error)
          .to.have.property("message")
          .that.matches(/too many|nested more than/);
      }
    });

    it("throws a TransportError for a compressed response that is cut off", async () => {
      const body = gzipSync(`{"jsonrpc":"2.0","id":1,"result":"${"ab".repeat(5000)}"}`);
      for (const length of [0, 12, body.length - 20]) {
        const cut = body.subarray(0, length);
        const error = await failure(call((_, response) => response.setHeader("Content-Encoding", "gzip").end(cut)));
        expect(error, String(length)).to.have.property("name", "TransportError");
      }
    });

    it("rejects a response that is too large for the request's methods", async () => {
      const padded: RequestListener = (request, response) => {
        void text(request).then((body) => {
          const ids = [JSON.parse(body) as { id: number }].flat();
          const answers = ids.map(({ id }) => `{"jsonrpc":"2.0","id":${id},"result":"0x1"}`).join();
          response.end(body.startsWith("[") ? `[${answers}]`.padEnd(1500) : answers.padEnd(1500));
        });
      };
      const bytesOf = (method: string) => (method === "small" ? 1000 : 2000);
      const url = closing(await serve(padded)).url;
      const limited = batchingCaller(url, 2, { maxBytes: 10, timeoutMs: ENDLESS_MS, bytesOf });
      expect(await failure(limited("small", []))).to.include({ code: "ANSWER_TOO_LARGE", expected: 1000 });
      expect(await limited("large", [])).to.equal("0x1");
      expect(await Promise.all([limited("small", []), limited("small", [])])).to.deep.equal(["0x1", "0x1"]);
    });

    it("accepts large responses of an honest endpoint", async () => {
      const hash = `0x${"ab".repeat(32)}`;
      const log = {
        address: `0x${"12".repeat(20)}`,
        topics: [hash, hash],
        data: hash,
        blockNumber: "0x1",
        removed: false,
      };
      const large = {
        transactions: Array.from({ length: 9000 }, () => hash),
        logs: Array.from({ length: 1000 }, () => log),
      };
      expect(await call(result(large))).to.deep.equal(large);
    });

    it("throws RPC_ERROR for any other HTTP status", async () => {
      for (const body of ["<!doctype html>", { jsonrpc: "2.0", id: 1, result: "0x1" }]) {
        for (const status of [201, 401, 429, 500]) {
          const error = await failure(call(answers(body, status)));
          expect(error).to.include({ name: "TransportError", code: "RPC_ERROR" });
          expect(error)
            .to.have.property("message")
            .that.matches(new RegExp(`HTTP status ${status} for eth_chainId\\.$`));
        }
      }
    });

    it("quotes the endpoint's error for any status and next to any result", async () => {
      const reverted = { code: 3, message: "execution reverted" };
      const both = answers({ jsonrpc: "2.0", id: 1, result: "0x1", error: reverted });
      for (const answer of [error(reverted), error(reverted, 400), error(reverted, 500), both]) {
        const rejection = await failure(call(answer));
        expect(rejection).to.include({ name: "TransportError", code: "RPC_ERROR" });
        expect(rejection)
          .to.have.property("message")
          .that.includes('the error 3 for eth_chainId: "execution reverted".');
      }
    });

    it("reports an endpoint's error that has no message", async () => {
      for (const value of [{}, { code: "3", message: 4 }, { message: null }]) {
        expect(await messageOf(call(error(value)))).to.match(/returned the error for eth_chainId: "no reason"\.$/);
      }
    });

    it("shortens and escapes the endpoint's message", async () => {
      const message = await messageOf(call(error({ code: -1, message: HOSTILE + "x".repeat(500_000) })));
      expect(message).to.have.property("length").that.is.lessThan(300);
      expect(message).to.match(/^[\x20-\x7e…]+$/);
    });
  });

  describe("in batches", () => {
    const COUNT = 50;
    interface Call {
      id: number;
      params: [number];
    }
    const resultsOf = (calls: Call[]) =>
      calls.map(({ id, params: [value] }) => ({ jsonrpc: "2.0", id, result: value }));
    /** Sends 50 calls to an endpoint, which answers each batch with this function. */
    const sendAll = async (answer: (calls: Call[]) => { status?: number; body: unknown }) => {
      const sizes: number[] = [];
      const { url } = closing(
        await serve((request, response) => {
          void text(request).then((body) => {
            const calls = JSON.parse(body) as Call | Call[];
            sizes.push(Array.isArray(calls) ? calls.length : 1);
            const { status = 200, body: reply } = Array.isArray(calls)
              ? answer(calls)
              : { body: resultsOf([calls])[0] };
            response.writeHead(status).end(typeof reply === "string" ? reply : JSON.stringify(reply));
          });
        }),
      );
      const send = batchingCaller(url, COUNT, OPTIONS);
      const results = await Promise.allSettled(Array.from({ length: COUNT }, (_, i) => send("eth_call", [i])));
      return { sizes, results: results.map((one) => (one.status === "fulfilled" ? one.value : one.reason) as unknown) };
    };
    const tooLarge = { jsonrpc: "2.0", id: null, error: { code: -32600, message: "Batch is too large" } };
    const every = Array.from({ length: COUNT }, (_, i) => i);
    const limits: Record<string, (calls: Call[]) => { status?: number; body: unknown }> = {
      "refuses all batches with one error": () => ({ body: tooLarge }),
      "refuses all batches with a list of one error": () => ({ body: [tooLarge] }),
      "returns the status 500 for all batches": () => ({ status: 500, body: "" }),
      "returns a web page for all batches": () => ({ body: "<html>" }),
      "answers a part of each batch": (calls) => ({ body: resultsOf(calls.slice(0, 7)) }),
      "answers no call of a batch": () => ({ body: [] }),
    };
    for (const limit of [3, 10, 40])
      limits[`accepts batches of at most ${limit}`] = (calls) =>
        calls.length > limit ? { status: 413, body: tooLarge } : { body: resultsOf(calls) };
    for (const [what, answer] of Object.entries(limits))
      it(`returns all results of an endpoint that ${what}`, async () => {
        const { results, sizes } = await sendAll(answer);
        expect(results).to.deep.equal(every);
        expect(sizes[0]).to.equal(COUNT);
        expect(sizes.length).to.be.below(2 * COUNT);
      });

    it("does not repeat calls if the endpoint reports too many requests", async () => {
      const { results, sizes } = await sendAll(() => ({ status: 429, body: "" }));
      expect(sizes).to.deep.equal([COUNT]);
      expect(results[0]).to.include({ code: "RPC_ERROR", actual: 429 });
    });
  });

  describe("through a provider", () => {
    const through = (request: Eip1193Provider["request"], options = {}) =>
      rpcCaller({ request }, { ...OPTIONS, ...options })("eth_chainId", []);

    it("passes the method and parameters to the provider", async () => {
      for (const value of ["0x1", 1n, null, undefined]) {
        expect(await through((args) => Promise.resolve([args, value]))).to.deep.equal([
          { method: "eth_chainId", params: [] },
          value,
        ]);
      }
    });

    it("calls the provider with the right `this`", async () => {
      class Wallet implements Eip1193Provider {
        readonly #chainId = "0x1";
        request() {
          return Promise.resolve(this.#chainId);
        }
      }
      expect(await rpcCaller(new Wallet(), OPTIONS)("eth_chainId", [])).to.equal("0x1");
    });

    for (const thrown of [new Error("locked"), null, undefined, "words", 7, { code: 4001, message: "no" }]) {
      it(`throws RPC_ERROR if the provider throws ${inspect(thrown).split("\n")[0]}`, async () => {
        const now = () => {
          // oxlint-disable-next-line typescript/only-throw-error -- a provider can throw anything
          throw thrown;
        };
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- a provider can throw anything
        const later = () => Promise.reject(thrown);
        for (const request of [now, later]) {
          expect(await failure(through(request))).to.include({ code: "RPC_ERROR", cause: thrown });
        }
      });
    }

    it("accepts whole JSON-RPC responses, which web3.js 4 returns", async () => {
      const whole = (rest: object) => () => Promise.resolve({ jsonrpc: "2.0", id: 7, ...rest });
      expect(await through(whole({ result: "0x1" }))).to.equal("0x1");
      expect(await through(whole({ result: null }))).to.equal(null);
      const answer = whole({ error: { code: -32000, message: "header not found" } });
      const error = (await failure(through(answer))) as Error;
      expect(error).to.include({ name: "TransportError", code: "RPC_ERROR", actual: -32000 });
      expect(error.message).to.contain("header not found");
    });

    it("shortens the provider's message and removes URLs", async () => {
      const words = `HTTP request failed. URL: https://rpc.example/v3/${SECRET} ${HOSTILE}`;
      const message = await messageOf(through(() => Promise.reject(new Error(words))));
      expect(message).to.match(/URL: <address> all is well\\n/);
      expect(message).to.match(/^[\x20-\x7e…]+$/);
    });

    it("stops waiting for a provider that never responds", async () => {
      const never = () => new Promise(() => undefined);
      expect(await failure(through(never, { timeoutMs: 20 }))).to.include({ code: "TIMEOUT" });
      const signal = AbortSignal.timeout(20);
      expect(await failure(through(never, { signal }))).to.include({ code: "ABORTED" });
    });

    it("skips the call if the signal is already aborted", async () => {
      let asked = 0;
      const request = () => Promise.resolve(asked++);
      expect(await failure(through(request, { signal: AbortSignal.abort() }))).to.include({ code: "ABORTED" });
      expect(asked).to.equal(0);
    });
  });

  describe("with an invalid rpc argument", () => {
    it("requires a URL or a provider", () => {
      for (const rpc of [undefined, null, 7, [], {}, { request: "eth_chainId" }])
        expect(refusalOf(rpcCaller, rpc as never, OPTIONS)).to.equal("ARGUMENT_INVALID");
    });
  });
});

describe("checkUrl", () => {
  it("returns an http(s) URL unchanged", () => {
    for (const url of ["http://localhost:8545", "https://rpc.example/v3/key?a=b", "https://[::1]/"]) {
      expect(checkUrl("rpc", url)).to.equal(url);
    }
  });

  const others = [
    undefined,
    `rpc.example/${SECRET}`,
    `//rpc.example/${SECRET}`,
    `wss://rpc.example/${SECRET}`,
    `file:///${SECRET}`,
    `https://${SECRET}@rpc.example`,
    `https://user:${SECRET}@rpc.example`,
    `https://${SECRET} .example`,
  ];
  for (const url of others) {
    it(`rejects the URL ${String(url).replace(SECRET, "<secret>")} without quoting it`, () => {
      const error = expect(() => checkUrl("rpc", url)).to.throw(ArgumentError);
      error.and.include({ code: "ARGUMENT_INVALID" });
      error.and.satisfy((error: unknown) => !inspect(error, { depth: Infinity }).includes(SECRET));
    });
  }
});
