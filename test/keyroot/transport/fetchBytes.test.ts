import { expect } from "chai";
import { getEventListeners } from "node:events";
import type { RequestListener } from "node:http";
import { pipeline, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { createGzip, gzipSync } from "node:zlib";
import { fetchBytes, type FetchOptions } from "../../../packages/keyroot/src/transport/fetchBytes.ts";
import { serve, serveRaw } from "../../support/servers.ts";
import { closedAfterEach, failure } from "../../support/support.ts";

const SECRET = "/v3/d41d8cd98f00b204?key=e9800998ecf8427e";
const REDIRECTS = [301, 302, 303, 307, 308];

describe("fetchBytes", () => {
  const closing = closedAfterEach();

  /** The address of a server that answers so. */
  const at = async (handler: RequestListener) => closing(await serve(handler)).url;

  /** The same, and a promise that is kept when whoever asked has hung up. */
  const watched = async (handler: RequestListener) => {
    const { promise: hungUp, resolve } = Promise.withResolvers<unknown>();
    const url = await at((request, response) => {
      request.socket.once("close", resolve);
      handler(request, response);
    });
    return { url, hungUp };
  };

  const ask = (url: string, options: Partial<FetchOptions> = {}, init: RequestInit = {}) =>
    fetchBytes(url, init, { maxBytes: 1000, timeoutMs: 10_000, ...options });

  describe("an answer", () => {
    it("is status and bytes, whatever the status", async () => {
      for (const status of [200, 201, 404, 500, 503]) {
        const url = await at((_, response) => response.writeHead(status).end(`number ${status}`));
        expect(await ask(url)).to.deep.include({ status, bytes: new TextEncoder().encode(`number ${status}`) });
      }
    });

    it("may be empty", async () => {
      for (const status of [200, 204]) {
        const url = await at((_, response) => response.writeHead(status).end());
        expect(await ask(url)).to.deep.include({ status, bytes: new Uint8Array() });
      }
    });

    it("comes to a request as it was given", async () => {
      const url = await at((request, response) => {
        void text(request).then((body) => {
          response.end(`${request.method} ${request.url} ${request.headers["content-type"]} ${body}`);
        });
      });
      const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
      const { bytes } = await ask(`${url}/a?b`, {}, init);
      expect(new TextDecoder().decode(bytes)).to.equal("POST /a?b application/json {}");
    });

    it("is decompressed", async () => {
      const url = await at((_, response) => response.setHeader("Content-Encoding", "gzip").end(gzipSync("words")));
      expect(await ask(url)).to.have.deep.property("bytes", new TextEncoder().encode("words"));
    });

    it("comes from the fetch that was given", async () => {
      const { status } = await ask("http://nowhere.invalid", {
        fetch: () => Promise.resolve(new Response("", { status: 418 })),
      });
      expect(status).to.equal(418);
    });
  });

  describe("too large an answer", () => {
    const TOO_LARGE = { name: "TransportError", code: "ANSWER_TOO_LARGE", expected: 1000 };

    it("is one of more bytes than the limit", async () => {
      const url = await at((request, response) => response.end(Buffer.alloc(Number(request.url?.slice(1)))));
      expect(await ask(`${url}/1000`))
        .to.have.property("bytes")
        .with.lengthOf(1000);
      expect(await failure(ask(`${url}/1001`))).to.include(TOO_LARGE);
    });

    it("without an end is cut off", async () => {
      const { url, hungUp } = await watched((_, response) => pipeline(zeros(), response, ignore));
      expect(await failure(ask(url))).to.include(TOO_LARGE);
      await hungUp;
    });

    it("is measured after decompression: a bomb is cut off", async () => {
      const { url, hungUp } = await watched((_, response) => {
        response.setHeader("Content-Encoding", "gzip");
        pipeline(zeros(), createGzip(), response, ignore);
      });
      expect(await failure(ask(url))).to.include(TOO_LARGE);
      await hungUp;
    });
  });

  describe("a slow server", () => {
    const TIMEOUT = { name: "TransportError", code: "TIMEOUT" };
    const HEAD = "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n";
    const behaviours = {
      "that says nothing": "",
      "that never ends its headers": HEAD,
      "that never ends its body": `${HEAD}\r\nx`,
    };
    for (const [which, beginning] of Object.entries(behaviours)) {
      it(`${which} is given up, and its connection closed`, async () => {
        const { promise: hungUp, resolve } = Promise.withResolvers<unknown>();
        const { url } = closing(
          await serveRaw((socket) => {
            socket.write(beginning);
            socket.resume().once("close", resolve);
          }),
        );
        expect(await failure(ask(url, { timeoutMs: 100 }))).to.include(TIMEOUT);
        await hungUp;
      });
    }

    it("that sends a byte now and then is given up, too", async () => {
      const { url } = closing(
        await serveRaw((socket) => {
          socket.write(`${HEAD}\r\n`);
          const drip = setInterval(() => socket.write("x"), 10);
          socket.once("close", () => {
            clearInterval(drip);
          });
        }),
      );
      expect(await failure(ask(url, { timeoutMs: 100 }))).to.include(TIMEOUT);
    });

    it("is given up also by a fetch that heeds no signal", async () => {
      const fetch = () => new Promise<never>(ignore);
      expect(await failure(ask("http://nowhere.invalid", { fetch, timeoutMs: 20 }))).to.include(TIMEOUT);
    });
  });

  describe("a caller", () => {
    const ABORTED = { name: "TransportError", code: "ABORTED" };

    it("who gave up before asks nothing", async () => {
      let asked = 0;
      const url = await at((_, response) => {
        asked++;
        response.end();
      });
      expect(await failure(ask(url, { signal: AbortSignal.abort() }))).to.include(ABORTED);
      expect(asked).to.equal(0);
    });

    for (const [when, begin] of [
      ["headers", ""],
      ["body", "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nx"],
    ] as const) {
      it(`who gives up while waiting for the ${when} has the connection closed`, async () => {
        const controller = new AbortController();
        const { promise: hungUp, resolve } = Promise.withResolvers<unknown>();
        const { url } = closing(
          await serveRaw((socket) => {
            socket.once("close", resolve);
            socket.once("data", () => {
              socket.write(begin, () => {
                controller.abort(new Error("enough"));
              });
            });
          }),
        );
        const error = await failure(ask(url, { signal: controller.signal }));
        expect(error).to.include(ABORTED).and.have.nested.property("cause.message", "enough");
        await hungUp;
      });
    }

    it("who gives up afterwards changes nothing, and is not listened to any more", async () => {
      const controller = new AbortController();
      const url = await at((_, response) => response.end("words"));
      const { bytes } = await ask(url, { signal: controller.signal });
      expect(getEventListeners(controller.signal, "abort")).to.be.empty;
      controller.abort();
      expect(bytes).to.have.lengthOf(5);
    });

    it("who asks again may do so over the same connection", async () => {
      const sockets = new Set<unknown>();
      const url = await at((request, response) => {
        sockets.add(request.socket);
        response.end("words");
      });
      for (let i = 0; i < 5; i++) await ask(url);
      expect(sockets.size).to.be.lessThan(5);
    });
  });

  describe("a redirect", () => {
    const REFUSED = { name: "TransportError", code: "REDIRECT_REFUSED" };

    for (const status of REDIRECTS) {
      it(`of status ${status} is not followed`, async () => {
        const asked: unknown[] = [];
        const url = await at(({ url }, response) => {
          asked.push(url);
          response.writeHead(url === "/" ? status : 200, { Location: "/elsewhere" }).end();
        });
        expect(await failure(ask(url))).to.include(REFUSED);
        expect(asked).to.deep.equal(["/"]);
      });
    }

    it("is refused also where a browser hides its status", async () => {
      const hidden = Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" });
      const fetch = () => Promise.resolve(hidden);
      expect(await failure(ask("http://nowhere.invalid", { fetch }))).to.include(REFUSED);
    });

    it("is refused without reading its body", async () => {
      const { url, hungUp } = await watched((_, response) => {
        pipeline(zeros(), response.writeHead(302, { Location: "/" }), ignore);
      });
      expect(await failure(ask(url))).to.include(REFUSED);
      await hungUp;
    });
  });

  describe("a server out of order", () => {
    const behaviours = {
      "that hangs up": "",
      "that does not speak HTTP": "SSH-2.0-OpenSSH_9.2\r\n",
      "that breaks off in its body": "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nx",
      "whose headers are too long": `HTTP/1.1 200 OK\r\nX: ${"x".repeat(2 ** 17)}`,
      "whose compression is broken": "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nwords",
    };
    for (const [which, words] of Object.entries(behaviours)) {
      it(`${which} is unreachable`, async () => {
        const { url } = closing(await serveRaw((socket) => socket.once("data", () => socket.end(words))));
        expect(await failure(ask(url))).to.include({ name: "TransportError", code: "UNREACHABLE" });
      });
    }

    it("that is not there is unreachable, with the system's reason", async () => {
      const server = await serve(ignore);
      await server.close();
      const { host } = new URL(server.url);
      expect(await failure(ask(server.url)))
        .to.include({ name: "TransportError", code: "UNREACHABLE" })
        .and.have.property("message", `${host} does not answer: ECONNREFUSED.`);
    });
  });

  describe("an error", () => {
    it("names the host, and never the path of an address or its query", async () => {
      const url = await at((request, response) => {
        if (request.url?.endsWith("redirect")) response.writeHead(302, { Location: SECRET }).end();
        else if (request.url?.endsWith("hang-up")) request.socket.destroy();
        else if (request.url?.endsWith("large")) response.end(Buffer.alloc(1001));
      });
      for (const which of ["redirect", "hang-up", "large", "silent"]) {
        const error = await failure(ask(`${url}${SECRET}&${which}`, { timeoutMs: 100 }));
        expect(error).to.have.property("message").that.includes(new URL(url).host);
        // With all its causes, as Node prints an error that nobody caught.
        expect(inspect(error, { depth: Infinity })).not.to.match(/d41d8cd9|e9800998/);
      }
    });

    it("does not repeat what a fetch says, since some name the whole address", async () => {
      const fetch = (url: unknown) => Promise.reject(new TypeError(`error sending request for url (${String(url)})`));
      expect(await failure(ask(`https://rpc.example${SECRET}`, { fetch }))).to.include({
        code: "UNREACHABLE",
        message: "rpc.example does not answer.",
      });
    });

    for (const thrown of [null, undefined, "words", 7, { code: 5 }]) {
      it(`comes also from a fetch that throws ${inspect(thrown)}`, async () => {
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- such things happen
        const fetch = () => Promise.reject(thrown);
        expect(await failure(ask("http://nowhere.invalid", { fetch }))).to.include({ code: "UNREACHABLE" });
      });
    }
  });
});

/** More than anyone wants. */
function zeros(): Readable {
  const block = Buffer.alloc(2 ** 16);
  return new Readable({
    read() {
      this.push(block);
    },
  });
}

function ignore(): void {
  // The other side hangs up: that is the point.
}
