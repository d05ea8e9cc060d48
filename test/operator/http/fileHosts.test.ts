import { expect } from "chai";
import type { RequestListener } from "node:http";
import { fetchFromHost } from "@keyroot/operator/publisher";
import { KeyrootError } from "keyroot/internal/errors";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { makeMerkleFile } from "keyroot/merkle";
import { readFileOf } from "../../../packages/operator/src/follow/index.ts";
import { serve } from "../../support/servers/servers.ts";
import { sampleRecords, textOf } from "../../support/samples.ts";
import { closedAfterEach, failure } from "../../support/support.ts";
import { ENDLESS_MS } from "../../support/endless.ts";

const file = makeMerkleFile(sampleRecords(5));
const TEXT = Buffer.from(textOf(file));
const { root } = file.tree;
const encoded =
  (encoding: string, body: Uint8Array): RequestListener =>
  (_, response) =>
    response.writeHead(200, { "Content-Encoding": encoding }).end(body);

/** What a host sends for a file, and the error, if any. */
const ROWS: { what: string; host: RequestListener; code?: string; message?: string }[] = [
  { what: "gzip", host: encoded("gzip", gzipSync(TEXT)) },
  { what: "x-gzip", host: encoded("x-gzip", gzipSync(TEXT)) },
  { what: "GZip, identity", host: encoded("GZip, identity", gzipSync(TEXT)) },
  { what: "Brotli", host: encoded("br", brotliCompressSync(TEXT)) },
  { what: "deflate", host: encoded("deflate", deflateSync(TEXT)) },
  { what: "deflate without the header of zlib", host: encoded("deflate", deflateRawSync(TEXT)) },
  { what: "zstd", host: encoded("zstd", zstdCompressSync(TEXT)) },
  { what: "gzip over Brotli", host: encoded("br, gzip", gzipSync(brotliCompressSync(TEXT))) },
  {
    what: "an encoding that Keyroot does not know",
    host: encoded("compress", TEXT),
    code: "FILE_HOST_ERROR",
    message:
      'sends the Content-Encoding "compress", which Keyroot cannot decode. Let the host compress with gzip or br',
  },
  {
    what: "a file that is compressed twice under one encoding",
    host: encoded("gzip", gzipSync(gzipSync(TEXT))),
    code: "FILE_HOST_ERROR",
    message: `returned ${root}.json compressed, without the matching Content-Encoding`,
  },
  {
    what: "a compressed file without an encoding",
    host: (_, response) => response.end(zstdCompressSync(TEXT)),
    code: "FILE_HOST_ERROR",
    message: `returned ${root}.json compressed, without the matching Content-Encoding`,
  },
  {
    what: "403 for a missing file",
    host: (_, response) => response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>"),
    code: "FILE_HOST_ERROR",
    message: "returned the HTTP status 403. The file may be missing: check the store's rights, such as s3:ListBucket.",
  },
  {
    what: "a redirect to an error page",
    host: (_, response) => response.writeHead(302, { Location: "/404.html" }).end(),
    code: "REDIRECT_REFUSED",
    message: "A host may also redirect if a file is missing.",
  },
  {
    what: "a web page for a missing file",
    host: (_, response) =>
      response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><title>App</title>"),
    code: "FILE_IS_HTML",
    message: `returned a web page instead of the file ${root}.json`,
  },
  { what: "404", host: (_, response) => response.writeHead(404).end(), code: "FILE_NOT_FOUND" },
  { what: "410", host: (_, response) => response.writeHead(410).end(), code: "FILE_NOT_FOUND" },
];

describe("a file host", () => {
  const closing = closedAfterEach();
  const READERS = {
    "the publisher": (merkleUrl: string) =>
      fetchFromHost(merkleUrl, { retry: { retries: 0, initialDelayMs: 1 } })(root, 2 ** 20),
    "an audit": (merkleUrl: string) => readFileOf(root, { merkleUrl, maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS }),
  };

  for (const [reader, read] of Object.entries(READERS))
    for (const { what, host, code, message = "" } of ROWS)
      it(`that sends ${what} ${code === undefined ? "can be read" : "is reported with the remedy"} by ${reader}`, async () => {
        const { url } = closing(await serve(host));
        if (code === undefined) return expect(Buffer.from(await read(url)).equals(TEXT)).to.equal(true);
        const error = await failure(read(url));
        expect(error).to.be.instanceOf(KeyrootError).with.property("code", code);
        return expect((error as Error).message).to.include(message);
      });
});
