import { expect } from "chai";
import { getEventListeners } from "node:events";
import type { RequestListener } from "node:http";
import { mock } from "node:test";
import { text } from "node:stream/consumers";
import { checkOptions, type ClientOptions } from "../../../packages/keyroot/src/client/options.ts";
import { operationCaller, type OperationOptions } from "../../../packages/keyroot/src/client/callOperation.ts";
import { serve } from "../../support/servers.ts";
import { closedAfterEach, failure } from "../../support/support.ts";

describe("a client's request", () => {
  const closing = closedAfterEach();

  /** A server that answers so; a function that posts to it, and when it was asked, in ms. */
  const against = async (handler: RequestListener, options: Partial<ClientOptions> = {}) => {
    const asked: number[] = [];
    const { url } = closing(
      await serve((request, response) => {
        asked.push(performance.now());
        handler(request, response);
      }),
    );
    const post = operationCaller(checkOptions({ baseUrl: `${url}/behind/`, bizId: "biz_1", ...options }));
    return { asked, post: (options: OperationOptions = {}, body = {}) => post("/v1/x", body, options) };
  };

  /** Answers one status after the other, and then 200. */
  const after = (...first: { status: number; headers?: Record<string, string> }[]): RequestListener => {
    return (_, response) => {
      const { status, headers } = first.shift() ?? { status: 200 };
      response.writeHead(status, headers).end("{}");
    };
  };

  it("is a POST of JSON to the operation under the service's address, with what proves and names it", async () => {
    const { post } = await against((request, response) => {
      const { method, url, headers } = request;
      void text(request).then((body) => {
        response.end(JSON.stringify({ method, url, headers, body }));
      });
    });
    const answer = await post({ accessToken: "a.b.c", idempotencyKey: "k" }, { user_id_hex: "ab" });
    expect(answer).to.deep.include({ method: "POST", url: "/behind/v1/x", body: '{"user_id_hex":"ab"}' });
    expect(answer).to.have.property("headers").that.includes({
      "content-type": "application/json",
      authorization: "Bearer a.b.c",
      "idempotency-key": "k",
    });
    expect(await post())
      .to.have.property("headers")
      .that.has.not.any.keys("authorization", "idempotency-key", "cookie");
  });

  describe("is sent again", () => {
    for (const status of [429, 502, 503, 504]) {
      it(`after the status ${status}`, async () => {
        const { asked, post } = await against(after({ status }));
        expect(await post()).to.deep.equal({});
        expect(asked).to.have.lengthOf(2);
      });
    }

    it("when Retry-After says, and not before", async () => {
      const { asked, post } = await against(after({ status: 429, headers: { "Retry-After": "1" } }));
      await post();
      const [first = 0, second = 0] = asked;
      expect(second - first).to.be.within(990, 3_000);
    });

    it("after a connection that broke, and one that never answered", async () => {
      let requests = 0;
      const { post } = await against(
        ({ socket }, response) => {
          requests++;
          if (requests === 1) socket.destroy();
          else if (requests > 2) response.end("{}");
        },
        { timeoutMs: 100 },
      );
      expect(await post()).to.deep.equal({});
      expect(requests).to.equal(3);
    });

    it("as often as was set, and then the last refusal is thrown", async () => {
      for (const retries of [0, 2]) {
        const { asked, post } = await against((_, response) => response.writeHead(503, { "Retry-After": "0" }).end(), {
          retries,
        });
        expect(await failure(post())).to.include({ name: "ServiceError", status: 503, retryAfter: 0 });
        expect(asked).to.have.lengthOf(1 + retries);
      }
    });

    it("no sooner than half a minute on, however long the service asks to wait", async () => {
      mock.timers.enable({ apis: ["setTimeout"] });
      try {
        let requests = 0;
        const { promise: waiting, resolve: waits } = Promise.withResolvers<unknown>();
        const fetch = () => {
          if (++requests > 1) return Promise.resolve(new Response("{}"));
          setImmediate(waits);
          return Promise.resolve(new Response("{}", { status: 429, headers: { "Retry-After": "86400" } }));
        };
        const answer = operationCaller(checkOptions({ baseUrl: "https://keys.example", bizId: "b", fetch }))(
          "/v1/x",
          {},
          {},
        );
        await waiting;
        mock.timers.tick(29_999);
        expect(requests).to.equal(1);
        mock.timers.tick(1);
        expect(await answer).to.deep.equal({});
      } finally {
        mock.timers.reset();
      }
    });

    for (const status of [400, 401, 403, 404, 408, 409, 413, 415, 500, 501]) {
      it(`never after the status ${status}`, async () => {
        const { asked, post } = await against(after({ status, headers: { "Retry-After": "0" } }));
        expect(await failure(post())).to.include({ name: "ServiceError", code: "SERVICE_ERROR", status });
        expect(asked).to.have.lengthOf(1);
      });
    }
  });

  describe("a caller", () => {
    it("who gives up while the client waits to try again gets ABORTED, and nothing is sent again", async () => {
      const { asked, post } = await against(after({ status: 503, headers: { "Retry-After": "20" } }));
      const giveUp = new AbortController();
      const answer = failure(post({ signal: giveUp.signal }));
      setTimeout(() => {
        giveUp.abort(new Error("enough"));
      }, 50);
      expect(await answer)
        .to.include({ name: "TransportError", code: "ABORTED" })
        .and.have.nested.property("cause.message", "enough");
      expect(asked).to.have.lengthOf(1);
    });

    it("who gives up while the service works gets ABORTED", async () => {
      const giveUp = new AbortController();
      const { post } = await against(() => {
        giveUp.abort();
      });
      expect(await failure(post({ signal: giveUp.signal }))).to.include({ name: "TransportError", code: "ABORTED" });
    });

    it("who gave up before asks nothing", async () => {
      const { asked, post } = await against(after());
      expect(await failure(post({ signal: AbortSignal.abort() }))).to.include({ code: "ABORTED" });
      expect(asked).to.be.empty;
    });

    it("who goes on is not listened to after each call", async () => {
      const { signal } = new AbortController();
      const { post } = await against(after({ status: 503, headers: { "Retry-After": "0" } }));
      for (let i = 0; i < 3; i++) await post({ signal });
      expect(getEventListeners(signal, "abort")).to.be.empty;
    });
  });

  describe("an answer", () => {
    it("is not followed elsewhere", async () => {
      for (const status of [301, 302, 303, 307, 308]) {
        const { asked, post } = await against(after({ status, headers: { Location: "/v1/elsewhere" } }));
        expect(await failure(post())).to.include({ name: "TransportError", code: "REDIRECT_REFUSED" });
        expect(asked).to.have.lengthOf(1);
      }
    });

    it("is read up to 4 MiB, and not tried again for its size", async () => {
      const { asked, post } = await against((_, response) => response.end(Buffer.alloc(2 ** 22 + 1, " ")));
      expect(await failure(post())).to.include({ name: "TransportError", code: "ANSWER_TOO_LARGE" });
      expect(asked).to.have.lengthOf(1);
    });

    it("is JSON, or refused without a word of it", async () => {
      for (const body of ["", "krs_secret", "{", "<html>", "[".repeat(2 ** 20)]) {
        const { asked, post } = await against((_, response) => response.end(body));
        const error = await failure(post());
        expect(error).to.include({ name: "TransportError", code: "SERVICE_ANSWER_INVALID" });
        expect(String(error)).not.to.include("krs_");
        expect(asked).to.have.lengthOf(1);
      }
    });

    it("has a status that there is", async () => {
      for (const status of [600, 999]) {
        const { post } = await against(after({ status }));
        expect(await failure(post())).to.include({ name: "TransportError", code: "SERVICE_ANSWER_INVALID" });
      }
    });

    it("without content is not JSON", async () => {
      for (const status of [204, 205]) {
        const { post } = await against(after({ status }));
        expect(await failure(post())).to.include({ name: "TransportError", code: "SERVICE_ANSWER_INVALID" });
      }
    });
  });
});
