import { expect } from "chai";
import type { RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { fetchBytes, type FetchOptions } from "../../../packages/keyroot/src/transport/fetchBytes.ts";
import { nodeFetch } from "../../../packages/operator/src/transport/nodeFetch.ts";
import { serve, serveRaw } from "../../support/servers.ts";
import { closedAfterEach, failure } from "../../support/support.ts";

describe("nodeFetch, with the limits of fetchBytes", () => {
  const closing = closedAfterEach();
  const at = async (handler: RequestListener) => closing(await serve(handler)).url;
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: '["€"]' };
  const request = (url: string, options: Partial<FetchOptions> = {}) =>
    fetchBytes(url, init, { maxBytes: 1000, timeoutMs: 10_000, fetch: nodeFetch, ...options });

  it("sends method, headers and body, and returns status and bytes, over one connection", async () => {
    const sockets = new Set<unknown>();
    const url = await at((request, response) => {
      sockets.add(request.socket);
      void text(request).then((body) => {
        response.writeHead(503).end(`${request.method} ${request.url} ${request.headers["content-type"]} ${body}`);
      });
    });
    for (let i = 0; i < 5; i++) {
      const { status, bytes } = await request(`${url}/a?b`);
      expect(status).to.equal(503);
      expect(new TextDecoder().decode(bytes)).to.equal('POST /a?b application/json ["€"]');
    }
    expect(sockets.size).to.be.lessThan(5);
  });

  const COMPRESS = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync };
  for (const [encoding, compress] of Object.entries(COMPRESS)) {
    it(`asks for compression as clients do, and returns the bytes of a body with ${encoding}`, async () => {
      const asked: unknown[] = [];
      const url = await at((request, response) => {
        asked.push(request.headers["accept-encoding"]);
        response.writeHead(200, { "Content-Encoding": encoding.toUpperCase() }).end(compress("€".repeat(300)));
      });
      const { bytes } = await request(url);
      expect(new TextDecoder().decode(bytes)).to.equal("€".repeat(300));
      expect(asked).to.deep.equal(["gzip, deflate, br"]);
    });

    it(`stops at the limit of a body with ${encoding}, and refuses one that is cut off or changed`, async () => {
      const bodies = [compress("x".repeat(10_000_000)), compress("x").subarray(0, -1), Buffer.from("not compressed")];
      const codes: unknown[] = [];
      for (const body of bodies) {
        const url = await at((_, response) => response.writeHead(200, { "Content-Encoding": encoding }).end(body));
        codes.push(((await failure(request(url))) as { code?: unknown }).code);
      }
      expect(codes).to.deep.equal(["ANSWER_TOO_LARGE", "UNREACHABLE", "UNREACHABLE"]);
    });
  }

  it("does not follow redirects", async () => {
    const urls: unknown[] = [];
    const url = await at((request, response) => {
      urls.push(request.url);
      response.writeHead(307, { Location: "/elsewhere" }).end();
    });
    expect(await failure(request(url))).to.include({ code: "REDIRECT_REFUSED" });
    expect(urls).to.deep.equal(["/"]);
  });

  const HEAD = "HTTP/1.1 200 OK\r\n";
  const behaviors = [
    { which: "without an answer", answer: "", code: "TIMEOUT" },
    { which: "with an endless body", answer: `${HEAD}Content-Length: 900\r\n\r\nx`, code: "TIMEOUT" },
    {
      which: "with a large body",
      answer: `${HEAD}Content-Length: 9000\r\n\r\n${"x".repeat(1001)}`,
      code: "ANSWER_TOO_LARGE",
    },
  ];
  for (const { which, answer, code } of behaviors) {
    it(`closes the connection of a server ${which}`, async () => {
      const { promise: closed, resolve } = Promise.withResolvers<unknown>();
      const { url } = closing(
        await serveRaw((socket) => {
          socket.write(answer);
          socket.resume().once("close", resolve);
        }),
      );
      expect(await failure(request(url, { timeoutMs: 100 }))).to.include({ code });
      await closed;
    });
  }

  it("reports an answer that is cut off, and a server that does not run", async () => {
    const { url } = closing(await serveRaw((socket) => socket.end(`${HEAD}Content-Length: 9\r\n\r\nx`)));
    expect(await failure(request(url))).to.include({ code: "UNREACHABLE" });
    const server = await serve(() => undefined);
    await server.close();
    const message = `The request to ${new URL(server.url).host} failed: ECONNREFUSED.`;
    expect(await failure(request(server.url))).to.include({ code: "UNREACHABLE", message });
  });

  it("connects to https URLs by TLS", async () => {
    let type: number | undefined;
    const { url } = closing(
      await serveRaw((socket) => {
        socket.once("data", ([first]) => {
          type = first;
          socket.end();
        });
      }),
    );
    expect(await failure(request(url.replace("http:", "https:")))).to.include({ code: "UNREACHABLE" });
    // The record type "handshake" (RFC 8446, section 5.1).
    expect(type).to.equal(22);
  });
});
