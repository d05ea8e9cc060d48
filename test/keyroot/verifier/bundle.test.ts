import { expect } from "chai";
import { build } from "esbuild";
import { createContext, runInContext } from "node:vm";
import { base64ToBytes } from "keyroot/internal/bytes";
import { type KeyRecord, type createVerifier, type oneEndpoint } from "keyroot";
import { makeMerkleFile } from "keyroot/merkle";
import { sampleRecords } from "../../support/samples.ts";
import { type Bundle, bundle } from "../../support/browser/bundle.ts";
import { cannedAnswers } from "../../support/data/cannedAnswers.ts";

describe("verifier, bundled for browsers", () => {
  let script: string;

  /** Bundles these functions in one file. */
  const buildFile = async (names: string) => {
    const contents = `export { ${names} } from "../../../packages/keyroot/src/index.ts";`;
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: import.meta.dirname },
      ...{ bundle: true, minify: true, platform: "browser", format: "iife", globalName: "keyroot", write: false },
    });
    return outputFiles.map(({ text }) => text).join("");
  };

  before(async () => {
    script = await buildFile("createVerifier, oneEndpoint");
  });

  it("verifies a key without Node's globals", async () => {
    const [mine, other] = sampleRecords(2) as [KeyRecord, KeyRecord];
    const { answers, fetchFrom, options } = cannedAnswers(makeMerkleFile([mine, other]));
    const globals = {
      fetch: fetchFrom(answers),
      atob,
      btoa,
      AbortController,
      AbortSignal,
      TextDecoder,
      TextEncoder,
      URL,
    };
    const context = createContext({ ...globals, setTimeout, clearTimeout, queueMicrotask, crypto, performance });
    const library = runInContext(`${script}; keyroot`, context) as {
      createVerifier: typeof createVerifier;
      oneEndpoint: typeof oneEndpoint;
    };
    const verifier = library.createVerifier({ ...options, trust: library.oneEndpoint() });
    const { record, publicKey } = await verifier.verify(mine.userID, { expectedPublicKey: mine.pubKey });
    expect({ ...record }).to.deep.equal(mine);
    expect([...publicKey]).to.deep.equal([...base64ToBytes(mine.pubKey)]);
  });

  describe("split at its dynamic imports", () => {
    let split: Bundle;

    before(async () => {
      split = await bundle('export { createVerifier } from "../../../packages/keyroot/src/index.ts";');
    });

    const ON_DEMAND = ["verifier/verifyContacts", "watch/watch", "watch/makeAlarm"];
    for (const words of [
      "hashes/sha3",
      "verifier/readRootAtBlock",
      "src/trust/quorum",
      "@ethereumjs/rlp",
      ...ON_DEMAND,
    ]) {
      it(`loads ${words} on demand`, () => {
        const chunks = split.chunksWith(words);
        expect(chunks).to.not.be.empty;
        for (const chunk of chunks) expect(split.initial).to.not.include(chunk);
      });
    }
  });
});
