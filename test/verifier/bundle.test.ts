import { expect } from "chai";
import { build } from "esbuild";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { base64ToBytes } from "../../src/identity/base64.ts";
import type { KeyRecord } from "../../src/identity/keyRecord.ts";
import { makeMerkleFile } from "../../src/merkle/file.ts";
import type { verifyPublicKey } from "../../src/verifier/verifyPublicKey.ts";
import { sampleRecords } from "../samples.ts";
import { play } from "./play.ts";

describe("the verifier, bundled for browsers", () => {
  let bundle: string;

  before(async () => {
    const contents = 'export { verifyPublicKey } from "../../src/index.ts";';
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: import.meta.dirname },
      ...{ bundle: true, minify: true, platform: "browser", format: "iife", globalName: "keyroot", write: false },
    });
    bundle = outputFiles.map(({ text }) => text).join("");
  });

  it("verifies a key with nothing of Node around it", async () => {
    const [mine, other] = sampleRecords(2) as [KeyRecord, KeyRecord];
    const { answers, fetchFrom, options } = play(makeMerkleFile([mine, other]));
    const globals = { fetch: fetchFrom(answers), AbortController, AbortSignal, TextDecoder, TextEncoder, URL };
    const context = createContext({ ...globals, setTimeout, clearTimeout, crypto });
    const { verifyPublicKey: verify } = runInContext(`${bundle}; keyroot`, context) as {
      verifyPublicKey: typeof verifyPublicKey;
    };
    const { record, publicKey } = await verify(mine.userID, { ...options, expectedPublicKey: mine.pubKey });
    expect({ ...record }).to.deep.equal(mine);
    expect([...publicKey]).to.deep.equal([...base64ToBytes(mine.pubKey)]);
  });

  it("weighs less than 24 kB compressed", () => {
    expect(gzipSync(bundle).length).to.be.lessThan(24_000);
  });
});
