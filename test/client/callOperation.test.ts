import { expect } from "chai";
import { getEventListeners } from "node:events";
import type { RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { checkClientOptions } from "@keyroot/client/internal";
import type { ClientOptions } from "../../packages/client/src/shared/options.ts";
import { operationCaller, type OperationOptions } from "../../packages/client/src/shared/callOperation.ts";
import { serve } from "../support/servers/servers.ts";
import { closedAfterEach, failure } from "../support/support.ts";

describe("callOperation", () => {
  const closing = closedAfterEach();

  /**
   * Starts a server with this handler. Returns a function that calls one of its operations, and the times of the
   * requests in ms.
   */
  const connect = async (handler: RequestListener, options: Partial<ClientOptions> = {}) => {
    const requests: number[] = [];
    const { url } = closing(
      await serve((request, response) => {
        requests.push(performance.now());
        handler(request, response);
      }),
    );
    const post = operationCaller(checkClientOptions({ serviceUrl: `${url}/behind/`, bizID: "biz_1", ...options }));
    return {
      requests,
      post: (options: OperationOptions = {}, body = {}) => post("/v1/authdUser/record/get", body, options),
    };
  };

  /** Responds with these statuses, one after another, and then with 200. */
  const after = (...first: { status: number; headers?: Record<string, string> }[]): RequestListener => {
    return (_, response) => {
      const { status, headers } = first.shift() ?? { status: 200 };
      response.writeHead(status, headers).end("{}");
    };
  };

  it("names the reason and the remedy if no service listens", async () => {
    const server = await serve((_, response) => response.end());
    await server.close();
    const options = { serviceUrl: server.url, bizID: "biz_1", retries: 0 };
    const error = await failure(operationCaller(checkClientOptions(options))("/v1/authdUser/record/get", {}, {}));
    expect(error).to.include({ name: "TransportError", code: "UNREACHABLE" });
    expect(error)
      .to.have.property("message")
      .that.matches(/failed: ECONNREFUSED\. Check the serviceUrl option/);
  });

  it("sends JSON with the access token and the idempotency key", async () => {
    const { post } = await connect((request, response) => {
      const { method, url, headers } = request;
      void text(request).then((body) => {
        response.end(JSON.stringify({ method, url, headers, body }));
      });
    });
    const answer = await post({ accessToken: "a.b.c", idempotencyKey: "k" }, { user_id_hex: "ab" });
    expect(answer).to.deep.include({
      method: "POST",
      url: "/behind/v1/authdUser/record/get",
      body: '{"user_id_hex":"ab"}',
    });
    expect(answer).to.have.property("headers").that.includes({
      "content-type": "application/json",
      authorization: "Bearer a.b.c",
      "idempotency-key": "k",
    });
    expect(await post())
      .to.have.property("headers")
      .that.has.not.any.keys("authorization", "idempotency-key", "cookie");
  });

  describe("after a failed request", () => {
    for (const status of [429, 502, 503, 504]) {
      it(`repeats the request after the status ${status}`, async () => {
        const { requests, post } = await connect(after({ status }));
        expect(await post()).to.deep.equal({});
        expect(requests).to.have.lengthOf(2);
      });
    }

    it("repeats the request after a broken connection or a timeout", async () => {
      let requests = 0;
      const { post } = await connect(
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

    it("throws the last error after the number of repetitions in `retries`", async () => {
      for (const retries of [0, 2]) {
        const { requests, post } = await connect(
          (_, response) => response.writeHead(503, { "Retry-After": "0" }).end(),
          {
            retries,
          },
        );
        expect(await failure(post())).to.include({ name: "ServiceError", status: 503, retryAfter: 0 });
        expect(requests).to.have.lengthOf(1 + retries);
      }
    });

    for (const status of [400, 401, 403, 404, 408, 409, 413, 415, 500, 501]) {
      it(`throws an error at once after the status ${status}`, async () => {
        const { requests, post } = await connect(after({ status, headers: { "Retry-After": "0" } }));
        expect(await failure(post())).to.include({ name: "ServiceError", code: "SERVICE_ERROR", status });
        expect(requests).to.have.lengthOf(1);
      });
    }
  });

  describe("with a signal", () => {
    it("throws ABORTED if the signal aborts during a request", async () => {
      const controller = new AbortController();
      const { post } = await connect(() => {
        controller.abort();
      });
      expect(await failure(post({ signal: controller.signal }))).to.include({
        name: "AbortError",
        code: "ABORTED",
      });
    });

    it("removes its listener from the signal", async () => {
      const { signal } = new AbortController();
      const { post } = await connect(after({ status: 503, headers: { "Retry-After": "0" } }));
      for (let i = 0; i < 3; i++) await post({ signal });
      expect(getEventListeners(signal, "abort")).to.be.empty;
    });
  });

  describe("with an invalid response", () => {
    it("rejects a response of more than 4 MiB after one request", async () => {
      const { requests, post } = await connect((_, response) => response.end(Buffer.alloc(2 ** 22 + 1, " ")));
      expect(await failure(post())).to.include({ name: "TransportError", code: "ANSWER_TOO_LARGE" });
      expect(requests).to.have.lengthOf(1);
    });

    it("rejects text that is not JSON, and does not quote the text", async () => {
      for (const body of ["", "krs_secret", "{", "<html>", "[".repeat(2 ** 20)]) {
        const { requests, post } = await connect((_, response) => response.end(body));
        const error = await failure(post());
        expect(error).to.include({ name: "TransportError", code: "SERVICE_ANSWER_INVALID" });
        expect(String(error)).not.to.include("krs_");
        expect(requests).to.have.lengthOf(1);
      }
    });

    it("rejects an HTTP status that does not exist", async () => {
      for (const status of [600, 999]) {
        const { post } = await connect(after({ status }));
        expect(await failure(post())).to.include({ name: "TransportError", code: "SERVICE_ANSWER_INVALID" });
      }
    });

    it("rejects an empty body", async () => {
      for (const status of [204, 205]) {
        const { post } = await connect(after({ status }));
        expect(await failure(post())).to.include({ name: "TransportError", code: "SERVICE_ANSWER_INVALID" });
      }
    });
  });
});
