import { expect } from "chai";
import { build } from "esbuild";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { base64ToBytes } from "../../../packages/keyroot/src/bytes/base64.ts";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { makeMerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import type { verifyPublicKey } from "../../../packages/keyroot/src/verifier/verifyPublicKey.ts";
import { sampleRecords } from "../../../fixtures/samples.ts";
import { type Bundle, bundle } from "../../support/browser/bundle.ts";
import { play } from "../../support/play.ts";

describe("the verifier, bundled for browsers", () => {
  let script: string;

  before(async () => {
    const contents = 'export { verifyPublicKey } from "../../../packages/keyroot/src/index.ts";';
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: import.meta.dirname },
      ...{ bundle: true, minify: true, platform: "browser", format: "iife", globalName: "keyroot", write: false },
    });
    script = outputFiles.map(({ text }) => text).join("");
  });

  it("verifies a key with nothing of Node around it", async () => {
    const [mine, other] = sampleRecords(2) as [KeyRecord, KeyRecord];
    const { answers, fetchFrom, options } = play(makeMerkleFile([mine, other]));
    const globals = { fetch: fetchFrom(answers), AbortController, AbortSignal, TextDecoder, TextEncoder, URL };
    const context = createContext({ ...globals, setTimeout, clearTimeout, queueMicrotask, crypto });
    const { verifyPublicKey: verify } = runInContext(`${script}; keyroot`, context) as {
      verifyPublicKey: typeof verifyPublicKey;
    };
    const { record, publicKey } = await verify(mine.userID, { ...options, expectedPublicKey: mine.pubKey });
    expect({ ...record }).to.deep.equal(mine);
    expect([...publicKey]).to.deep.equal([...base64ToBytes(mine.pubKey)]);
  });

  describe("split where it is loaded when asked for", () => {
    let split: Bundle;

    before(async () => {
      split = await bundle('export { verifyPublicKey } from "../../../packages/keyroot/src/index.ts";');
    });

    it("weighs 15 kB at the most, compressed, with all that a basic verification takes", () => {
      const sizes = split.initial.map((chunk) => gzipSync(split.chunks.get(chunk) ?? "").length);
      expect(sizes.reduce((sum, size) => sum + size)).to.be.at.most(15 * 1024);
    });

    for (const words of ["hashes/sha3", "verifier/readRootAtBlock", "verifier/quorum", "@ethereumjs/"]) {
      it(`leaves ${words} out until then`, () => {
        const chunks = split.chunksWith(words);
        expect(chunks).to.not.be.empty;
        for (const chunk of chunks) expect(split.initial).to.not.include(chunk);
      });
    }
  });
});
