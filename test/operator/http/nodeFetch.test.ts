import { expect } from "chai";
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { fetchBytes, fetchMerkleFile } from "keyroot/internal/transport";
import type { FetchOptions } from "../../../packages/keyroot/src/transport/fetchBytes.ts";
import { nodeFetch } from "../../../packages/operator/src/http/nodeFetch.ts";
import { goneUrl, serve, serveRaw } from "../../support/servers/servers.ts";
import { closedAfterEach, failure } from "../../support/support.ts";
import { ENDLESS_MS } from "../../support/endless.ts";

describe("nodeFetch", () => {
  const closing = closedAfterEach();
  const at = async (handler: RequestListener) => closing(await serve(handler)).url;
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: '["€"]' };
  const request = (url: string, options: Partial<FetchOptions> = {}) =>
    fetchBytes(url, init, { maxBytes: 1000, timeoutMs: ENDLESS_MS, fetch: nodeFetch, ...options });

  it("reuses a connection for several requests", async () => {
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

  it("accepts gzip and Brotli, and sends the user agent keyroot", async () => {
    let sent: IncomingHttpHeaders = {};
    const url = await at((request, response) => {
      sent = request.headers;
      response.end();
    });
    await request(url);
    expect(sent).to.include({ accept: "*/*", "accept-encoding": "gzip, br", "user-agent": "keyroot" });
  });

  const COMPRESS = {
    ...{ gzip: gzipSync, "x-gzip": gzipSync, br: brotliCompressSync, deflate: deflateSync, zstd: zstdCompressSync },
    "gzip, identity": gzipSync,
    "br, gzip": (text: string) => gzipSync(brotliCompressSync(text)),
  };
  for (const [encoding, compress] of Object.entries(COMPRESS)) {
    const answering = (body: Uint8Array, status = 200) =>
      at((_, response) => response.writeHead(status, { "Content-Encoding": encoding }).end(body));

    describe(`with Content-Encoding: ${encoding}`, () => {
      it("decompresses the body", async () => {
        const headers = { "Content-Encoding": encoding.toUpperCase() };
        const url = await at((_, response) => response.writeHead(200, headers).end(compress("€".repeat(300))));
        expect(new TextDecoder().decode((await request(url)).bytes)).to.equal("€".repeat(300));
      });

      it("limits the decompressed size", async () => {
        const url = await answering(compress("x".repeat(10_000_000)));
        expect(await failure(request(url))).to.include({ code: "ANSWER_TOO_LARGE" });
      });

      it("accepts an empty body", async () => {
        const { status, bytes } = await request(await answering(new Uint8Array(), 404));
        expect({ status, length: bytes.length }).to.deep.equal({ status: 404, length: 0 });
      });

      it("fails if the body is not compressed", async () => {
        expect(await failure(request(await answering(Buffer.from("not compressed"))))).to.include({
          code: "UNREACHABLE",
        });
        const redirect = await answering(Buffer.from("not compressed"), 302);
        expect(await failure(request(redirect))).to.include({ code: "REDIRECT_REFUSED" });
      });

      it("fails if the connection ends early", async () => {
        const half = compress("x".repeat(100)).subarray(0, 5);
        const head = `HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: 50\r\n\r\n`;
        const { url } = closing(
          await serveRaw((socket) => {
            socket.write(head);
            socket.end(half);
          }),
        );
        expect(await failure(request(url))).to.include({ code: "UNREACHABLE" });
      });

      it("reports a shortened Merkle-tree file as an error of its host", async () => {
        const url = await answering(compress(`{"merkle":"${randomBytes(250).toString("hex")}"}`).subarray(0, 200));
        const fetching = fetchMerkleFile(url, "0".repeat(64), {
          maxBytes: 1000,
          timeoutMs: ENDLESS_MS,
          fetch: nodeFetch,
        });
        expect(await failure(fetching)).to.include({ code: "FILE_HOST_ERROR" });
      });
    });
  }

  it("decompresses deflate without the header of zlib", async () => {
    const body = deflateRawSync("€".repeat(300));
    const url = await at((_, response) => response.writeHead(200, { "Content-Encoding": "deflate" }).end(body));
    expect(new TextDecoder().decode((await request(url)).bytes)).to.equal("€".repeat(300));
  });

  for (const encoding of ["compress", "gzip, lz4", "gzip, gzip, gzip, gzip", "constructor", "__proto__"]) {
    it(`rejects Content-Encoding: ${encoding}, with the remedy`, async () => {
      const url = await at((_, response) => response.writeHead(200, { "Content-Encoding": encoding }).end("x"));
      const { host } = new URL(url);
      const message = `${host} sends the Content-Encoding "${encoding}", which Keyroot cannot decode. Let the host compress with gzip or br, or not at all.`;
      expect(await failure(request(url))).to.include({ code: "FILE_HOST_ERROR", message });
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
    { which: "that does not respond", answer: "", code: "TIMEOUT" },
    { which: "that does not finish its response", answer: `${HEAD}Content-Length: 900\r\n\r\nx`, code: "TIMEOUT" },
    {
      which: "that sends a body above the size limit",
      answer: `${HEAD}Content-Length: 9000\r\n\r\n${"x".repeat(1001)}`,
      code: "ANSWER_TOO_LARGE",
    },
  ];
  for (const { which, answer, code } of behaviors) {
    it(`closes the connection to a server ${which}`, async () => {
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

  it("fails if the server is not running or ends a response early", async () => {
    const { url } = closing(await serveRaw((socket) => socket.end(`${HEAD}Content-Length: 9\r\n\r\nx`)));
    expect(await failure(request(url))).to.include({ code: "UNREACHABLE" });
    const gone = await goneUrl();
    const message = `The request to ${new URL(gone).host} failed: ECONNREFUSED.`;
    expect(await failure(request(gone))).to.include({ code: "UNREACHABLE", message });
  });

  it("connects to https URLs with TLS", async () => {
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
