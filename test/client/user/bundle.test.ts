import { expect } from "chai";
import { gzipSync } from "node:zlib";
import { bundle } from "../../support/browser/bundle.ts";

describe("client bundles for browsers", () => {
  it("contain at most 16 kB for @keyroot/client/user after gzip", async () => {
    const { chunks, initial } = await bundle('export { UserClient } from "../../../packages/client/src/user.ts";');
    const sizes = initial.map((chunk) => gzipSync(chunks.get(chunk) ?? "").length);
    expect(sizes.reduce((sum, size) => sum + size)).to.be.at.most(16 * 1000);
  });

  it("keep partner code out of @keyroot/client/user", async () => {
    const bundled = await bundle('export { UserClient } from "../../../packages/client/src/user.ts";');
    for (const words of ["client/src/partner", "p-map"]) expect(bundled.chunksWith(words)).to.be.empty;
  });

  it("load cryptographic code only when @keyroot/client/user needs it", async () => {
    const bundled = await bundle('export { UserClient } from "../../../packages/client/src/user.ts";');
    for (const words of ["@noble/curves", "hashes/hmac", "user/answerChallenge"]) {
      expect(bundled.chunksWith(words)).not.to.be.empty;
      for (const chunk of bundled.chunksWith(words)) expect(bundled.initial).not.to.include(chunk);
    }
  });
});
