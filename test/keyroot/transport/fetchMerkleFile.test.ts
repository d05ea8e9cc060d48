import { expect } from "chai";
import type { RequestListener } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { fetchMerkleFile } from "../../../packages/keyroot/src/transport/fetchMerkleFile.ts";
import { makeMerkleFile } from "keyroot/merkle";
import { sampleRecords, textOf } from "../../support/samples.ts";
import { serve } from "../../support/servers/servers.ts";
import { closedAfterEach, failure } from "../../support/support.ts";
import { ENDLESS_MS } from "../../support/endless.ts";

const OPTIONS = { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS };
const COMPRESSIONS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };

describe("fetchMerkleFile", () => {
  const closing = closedAfterEach();
  const file = makeMerkleFile(sampleRecords(20));
  const { root } = file.tree;
  const text = textOf(file);
  const fetchFrom = async (handler: RequestListener) =>
    fetchMerkleFile(closing(await serve(handler)).url, root, OPTIONS);

  it("fetches the file named after the root", async () => {
    let path: string | undefined;
    const bytes = await fetchFrom((request, response) => {
      path = request.url;
      response.end(text);
    });
    expect(path).to.equal(`/${root}.json`);
    expect(new TextDecoder().decode(bytes)).to.equal(text);
  });

  for (const [encoding, compress] of Object.entries(COMPRESSIONS)) {
    describe(`with a file compressed with ${encoding}`, () => {
      const served = (body: Uint8Array): RequestListener => {
        return (_, response) => response.setHeader("Content-Encoding", encoding).end(body);
      };

      it("returns a complete file with white space at its end", async () => {
        for (const end of ["", "\n", " \r\n\t"]) {
          const bytes = await fetchFrom(served(compress(text + end)));
          expect(new TextDecoder().decode(bytes)).to.equal(text + end);
        }
      });

      it("throws a TransportError for a file that is cut off", async () => {
        const body = compress(text);
        for (const length of [0, 1, 10, 1000, body.length >> 1, body.length - 20]) {
          const error = await failure(fetchFrom(served(body.subarray(0, length))));
          expect(error, String(length)).to.have.property("name", "TransportError");
          expect(error, String(length)).to.have.property("code").that.is.oneOf(["FILE_HOST_ERROR", "UNREACHABLE"]);
        }
      });
    });
  }

  it("quotes a web page that a wrong host returns instead of a file", async () => {
    const error = await failure(fetchFrom((_, response) => response.end("<!doctype html>\n<div id=root></div>")));
    expect(error).to.include({ name: "TransportError", code: "FILE_IS_HTML", advice: "developer" });
    expect(String(error)).to.include('"<!doctype html>\\n<div').and.include("Check the merkleUrl option.");
  });

  it("rejects plain http to another machine by default", async () => {
    const url = "http://files.invalid/secret";
    const error = await failure(fetchMerkleFile(url, root, OPTIONS));
    expect(error).to.include({ name: "ArgumentError", code: "ARGUMENT_INVALID" });
    expect(error).to.have.property("message").that.includes("files.invalid").and.does.not.include("secret");
    expect(await failure(fetchMerkleFile(url, root, { ...OPTIONS, allowHttp: true }))).to.include({
      code: "UNREACHABLE",
    });
  });
});
