import { expect } from "chai";
import { getEventListeners } from "node:events";
import type { RequestListener } from "node:http";
import { pipeline, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { createGzip, gzipSync } from "node:zlib";
import { fetchBytes, type FetchOptions } from "../../../packages/keyroot/src/transport/fetchBytes.ts";
import { phoneFetch } from "../../support/servers/phoneFetch.ts";
import { serve, serveRaw } from "../../support/servers/servers.ts";
import { closedAfterEach, failure } from "../../support/support.ts";
import { ENDLESS_MS } from "../../support/endless.ts";

const SECRET = "/v3/d41d8cd98f00b204?key=e9800998ecf8427e";
const REDIRECTS = [301, 302, 303, 307, 308];

describe("fetchBytes", () => {
  const closing = closedAfterEach();

  /** Starts a server and returns its URL. */
  const at = async (handler: RequestListener) => closing(await serve(handler)).url;

  /** Starts a server. Returns its URL, and a promise that resolves when the client closes the connection. */
  const watched = async (handler: RequestListener) => {
    const { promise: closed, resolve } = Promise.withResolvers<unknown>();
    const url = await at((request, response) => {
      request.socket.once("close", resolve);
      handler(request, response);
    });
    return { url, closed };
  };

  /**
   * Starts a server that responds to a request with `beginning` and then sends nothing more. Returns the server's URL,
   * and a promise that resolves when the client closes the connection.
   */
  const hanging = async (beginning: string, onAnswer = ignore) => {
    const { promise: closed, resolve } = Promise.withResolvers<unknown>();
    const { url } = closing(
      await serveRaw((socket) => {
        socket.once("close", resolve);
        socket.once("data", () => socket.write(beginning, onAnswer));
      }),
    );
    return { url, closed };
  };

  const request = (url: string, options: Partial<FetchOptions> = {}, init: RequestInit = {}) =>
    fetchBytes(url, init, { maxBytes: 1000, timeoutMs: ENDLESS_MS, ...options });

  describe("with a working server", () => {
    it("returns the status and the bytes of any response", async () => {
      for (const status of [200, 201, 404, 500, 503]) {
        const url = await at((_, response) => response.writeHead(status).end(`number ${status}`));
        expect(await request(url)).to.deep.include({ status, bytes: new TextEncoder().encode(`number ${status}`) });
      }
    });

    it("accepts an empty body and the status 304", async () => {
      for (const status of [200, 204, 304]) {
        const url = await at((_, response) => response.writeHead(status).end());
        expect(await request(url)).to.deep.include({ status, bytes: new Uint8Array() });
      }
    });

    it("sends the request unchanged", async () => {
      const url = await at((request, response) => {
        void text(request).then((body) => {
          response.end(`${request.method} ${request.url} ${request.headers["content-type"]} ${body}`);
        });
      });
      const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
      const { bytes } = await request(`${url}/a?b`, {}, init);
      expect(new TextDecoder().decode(bytes)).to.equal("POST /a?b application/json {}");
    });

    it("decompresses the body", async () => {
      const url = await at((_, response) => response.setHeader("Content-Encoding", "gzip").end(gzipSync("words")));
      expect(await request(url)).to.have.deep.property("bytes", new TextEncoder().encode("words"));
    });

    it("sends the cache field only where the platform has it", async () => {
      const seen: unknown[] = [];
      const fetch = (_: unknown, init: object) => {
        seen.push("cache" in init);
        return Promise.resolve(new Response(""));
      };
      const options = { maxBytes: 1000, timeoutMs: ENDLESS_MS, fetch: fetch as typeof globalThis.fetch };
      const send = () => fetchBytes("https://a.example", { cache: "no-store" }, options);
      await send();
      const { Request } = globalThis;
      try {
        globalThis.Request = Object as unknown as typeof Request;
        await send();
      } finally {
        globalThis.Request = Request;
      }
      expect(seen).to.deep.equal([true, false]);
    });

    it("uses the given fetch function", async () => {
      const { status } = await request("http://nowhere.invalid", {
        fetch: () => Promise.resolve(new Response("", { status: 418 })),
      });
      expect(status).to.equal(418);
    });
  });

  describe("with a size limit", () => {
    const TOO_LARGE = { name: "TransportError", code: "ANSWER_TOO_LARGE", expected: 1000 };

    it("rejects a body above the limit", async () => {
      const url = await at((request, response) => response.end(Buffer.alloc(Number(request.url?.slice(1)))));
      expect(await request(`${url}/1000`))
        .to.have.property("bytes")
        .with.lengthOf(1000);
      expect(await failure(request(`${url}/1001`))).to.include(TOO_LARGE);
    });

    it("closes the connection of an endless body", async () => {
      const { url, closed } = await watched((_, response) => pipeline(zeros(), response, ignore));
      expect(await failure(request(url))).to.include(TOO_LARGE);
      await closed;
    });

    it("applies the limit after decompression", async () => {
      const { url, closed } = await watched((_, response) => {
        response.setHeader("Content-Encoding", "gzip");
        pipeline(zeros(), createGzip(), response, ignore);
      });
      expect(await failure(request(url))).to.include(TOO_LARGE);
      await closed;
    });
  });

  describe("with a timeout", () => {
    const TIMEOUT = { name: "TransportError", code: "TIMEOUT" };
    const HEAD = "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n";
    const behaviors = {
      "no response": "",
      "endless headers": HEAD,
      "an endless body": `${HEAD}\r\nx`,
    };
    for (const [which, beginning] of Object.entries(behaviors)) {
      it(`closes the connection of a server with ${which}`, async () => {
        const { url, closed } = await hanging(beginning);
        expect(await failure(request(url, { timeoutMs: 100 }))).to.include(TIMEOUT);
        await closed;
      });
    }

    it("stops reading from a server that sends single bytes", async () => {
      const { url } = closing(
        await serveRaw((socket) => {
          socket.write(`${HEAD}\r\n`);
          const drip = setInterval(() => socket.write("x"), 10);
          socket.once("close", () => {
            clearInterval(drip);
          });
        }),
      );
      expect(await failure(request(url, { timeoutMs: 100 }))).to.include(TIMEOUT);
    });

    it("stops waiting for a fetch that ignores its signal", async () => {
      const fetch = () => new Promise<never>(ignore);
      expect(await failure(request("http://nowhere.invalid", { fetch, timeoutMs: 20 }))).to.include(TIMEOUT);
    });
  });

  describe("with a signal", () => {
    const ABORTED = { name: "AbortError", code: "ABORTED" };

    it("sends no request if the signal is already aborted", async () => {
      let requests = 0;
      const url = await at((_, response) => {
        requests++;
        response.end();
      });
      expect(await failure(request(url, { signal: AbortSignal.abort() }))).to.include(ABORTED);
      expect(requests).to.equal(0);
    });

    for (const [when, begin] of [
      ["headers", ""],
      ["body", "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nx"],
    ] as const) {
      it(`closes the connection if the signal aborts before the ${when}`, async () => {
        const controller = new AbortController();
        const { url, closed } = await hanging(begin, () => {
          controller.abort(new Error("enough"));
        });
        const error = await failure(request(url, { signal: controller.signal }));
        expect(error).to.include(ABORTED).and.have.nested.property("cause.message", "enough");
        await closed;
      });
    }

    it("removes its listener after the response", async () => {
      const controller = new AbortController();
      const url = await at((_, response) => response.end("words"));
      const { bytes } = await request(url, { signal: controller.signal });
      expect(getEventListeners(controller.signal, "abort")).to.be.empty;
      controller.abort();
      expect(bytes).to.have.lengthOf(5);
    });

    it("lets requests share a connection", async () => {
      const sockets = new Set<unknown>();
      const url = await at((request, response) => {
        sockets.add(request.socket);
        response.end("words");
      });
      for (let i = 0; i < 5; i++) await request(url);
      expect(sockets.size).to.be.lessThan(5);
    });
  });

  describe("for redirects", () => {
    const REJECTED = { name: "TransportError", code: "REDIRECT_REFUSED" };

    for (const status of REDIRECTS) {
      it(`rejects the status ${status}`, async () => {
        const urls: unknown[] = [];
        const url = await at(({ url }, response) => {
          urls.push(url);
          response.writeHead(url === "/" ? status : 200, { Location: "/elsewhere" }).end();
        });
        expect(await failure(request(url))).to.include(REJECTED);
        expect(urls).to.deep.equal(["/"]);
      });
    }

    it("rejects a redirect with a status that the browser hides", async () => {
      const hidden = Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" });
      const fetch = () => Promise.resolve(hidden);
      expect(await failure(request("http://nowhere.invalid", { fetch }))).to.include(REJECTED);
    });

    it("rejects a redirect without reading its body", async () => {
      const { url, closed } = await watched((_, response) => {
        pipeline(zeros(), response.writeHead(302, { Location: "/" }), ignore);
      });
      expect(await failure(request(url))).to.include(REJECTED);
      await closed;
    });
  });

  describe("with React Native's fetch", () => {
    const fromPhone = (url: string, options: Partial<FetchOptions> = {}) =>
      request(url, { fetch: phoneFetch, ...options });

    it("returns the status and the bytes of any response", async () => {
      const url = await at((request, response) => response.writeHead(Number(request.url?.slice(1))).end("words"));
      for (const status of [200, 404, 503])
        expect(await fromPhone(`${url}/${status}`)).to.deep.include({
          status,
          bytes: new TextEncoder().encode("words"),
        });
      expect(await fromPhone(`${url}/204`)).to.deep.include({ status: 204, bytes: new Uint8Array() });
    });

    it("rejects a declared length above the limit before reading", async () => {
      let isRead = false;
      const fetch = () =>
        Promise.resolve({
          ...{ status: 200, headers: new Headers({ "Content-Length": "1001" }) },
          arrayBuffer: () => {
            isRead = true;
            return Promise.resolve(new ArrayBuffer(1));
          },
        } as unknown as Response);
      expect(await failure(request("http://nowhere.invalid", { fetch }))).to.include({ code: "ANSWER_TOO_LARGE" });
      expect(isRead).to.equal(false);
    });

    it("rejects a real length above the limit", async () => {
      const url = await at((request, response) => {
        response.setHeader("Content-Encoding", "gzip").end(gzipSync(Buffer.alloc(Number(request.url?.slice(1)))));
      });
      expect(await fromPhone(`${url}/1000`))
        .to.have.property("bytes")
        .with.lengthOf(1000);
      expect(await failure(fromPhone(`${url}/1001`))).to.include({ code: "ANSWER_TOO_LARGE" });
    });

    it("closes the connection of an endless response at the timeout", async () => {
      const { url, closed } = await watched((_, response) => {
        const drip = setInterval(() => response.write("x"), 10);
        response.once("close", () => {
          clearInterval(drip);
        });
      });
      expect(await failure(fromPhone(url, { timeoutMs: 200 }))).to.include({ code: "TIMEOUT" });
      await closed;
    });

    it("rejects the response of a redirect's target", async () => {
      const url = await at((request, response) => {
        if (request.url === "/there") response.end("words");
        else response.writeHead(302, { Location: "/there" }).end();
      });
      expect(await failure(fromPhone(url))).to.include({ name: "TransportError", code: "REDIRECT_REFUSED" });
      const withoutUrl: typeof phoneFetch = async (...args) => {
        const response = await phoneFetch(...args);
        Object.defineProperty(response, "url", { value: "" });
        return Object.defineProperty(response, "redirected", { value: true });
      };
      expect(await failure(fromPhone(url, { fetch: withoutUrl }))).to.include({ code: "REDIRECT_REFUSED" });
    });

    it("accepts a response only if its URL is a spelling of the requested URL", async () => {
      const answering = (url: string) => () =>
        Promise.resolve({ status: 200, url, arrayBuffer: () => Promise.resolve(new ArrayBuffer(1)) } as Response);
      for (const url of ["https://rpc.example", "https://RPC.example:443/", "https://rpc.example/#part"])
        expect(await request("https://rpc.example/", { fetch: answering(url) })).to.include({ status: 200 });
      for (const url of ["http://rpc.example/", "https://rpc.example/a", "https://rpc.example.evil/", "nowhere"])
        expect(await failure(request("https://rpc.example/", { fetch: answering(url) })), url).to.include({
          code: "REDIRECT_REFUSED",
        });
    });
  });

  describe("with a broken server", () => {
    const behaviors = {
      "that closes the connection": "",
      "that does not use HTTP": "SSH-2.0-OpenSSH_9.2\r\n",
      "that closes the connection during the body": "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nx",
      "with headers that are too long": `HTTP/1.1 200 OK\r\nX: ${"x".repeat(2 ** 17)}`,
      "with damaged compression": "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nwords",
    };
    for (const [which, words] of Object.entries(behaviors)) {
      it(`throws UNREACHABLE for a server ${which}`, async () => {
        const { url } = closing(await serveRaw((socket) => socket.once("data", () => socket.end(words))));
        expect(await failure(request(url))).to.include({ name: "TransportError", code: "UNREACHABLE" });
      });
    }

    it("throws UNREACHABLE with the system's code if no server listens", async () => {
      const server = await serve(ignore);
      await server.close();
      const { host } = new URL(server.url);
      expect(await failure(request(server.url)))
        .to.include({ name: "TransportError", code: "UNREACHABLE" })
        .and.have.property("message", `The request to ${host} failed: ECONNREFUSED.`);
    });
  });

  describe("with a failed request", () => {
    it("names only the URL's host in its error", async () => {
      const url = await at((request, response) => {
        if (request.url?.endsWith("redirect")) response.writeHead(302, { Location: SECRET }).end();
        else if (request.url?.endsWith("hang-up")) request.socket.destroy();
        else if (request.url?.endsWith("large")) response.end(Buffer.alloc(1001));
      });
      for (const which of ["redirect", "hang-up", "large", "silent"]) {
        const error = await failure(request(`${url}${SECRET}&${which}`, { timeoutMs: 100 }));
        expect(error).to.have.property("message").that.includes(new URL(url).host);
        // The output includes all causes, like Node's output for an uncaught error.
        expect(inspect(error, { depth: Infinity })).not.to.match(/d41d8cd9|e9800998/);
      }
    });

    it("omits fetch's error message, which may contain the URL", async () => {
      const fetch = (url: unknown) => Promise.reject(new TypeError(`error sending request for url (${String(url)})`));
      expect(await failure(request(`https://rpc.example${SECRET}`, { fetch }))).to.include({
        code: "UNREACHABLE",
        message: "The request to rpc.example failed.",
      });
    });

    for (const thrown of [null, undefined, "words", 7, { code: 5 }]) {
      it(`throws UNREACHABLE if fetch throws ${inspect(thrown)}`, async () => {
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- a fetch can throw anything
        const fetch = () => Promise.reject(thrown);
        expect(await failure(request("http://nowhere.invalid", { fetch }))).to.include({ code: "UNREACHABLE" });
      });
    }
  });
});

/** An endless stream of zeros. */
function zeros(): Readable {
  const block = Buffer.alloc(2 ** 16);
  return new Readable({
    read() {
      this.push(block);
    },
  });
}

function ignore(): void {
  // The test expects that the client closes the connection.
}
