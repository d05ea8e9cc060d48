import { expect } from "chai";
import { gzipSync } from "node:zlib";
import { bundle } from "../../../support/browser/bundle.ts";
import { failure } from "../../../support/support.ts";

describe("the clients, bundled for browsers", () => {
  it("keyroot/user weighs at most 15 kB gzipped", async () => {
    const { chunks, initial } = await bundle('export { UserClient } from "../../../packages/keyroot/src/user.ts";');
    const sizes = initial.map((chunk) => gzipSync(chunks.get(chunk) ?? "").length);
    expect(sizes.reduce((sum, size) => sum + size)).to.be.at.most(15 * 1000);
  });

  it("keyroot/user contains neither the partner's client nor its dependencies", async () => {
    const bundled = await bundle('export { UserClient } from "../../../packages/keyroot/src/user.ts";');
    for (const words of ["src/client/partner", "p-map"]) expect(bundled.chunksWith(words)).to.be.empty;
  });

  it("keyroot/user loads what registration needs on demand: the curve and the MAC", async () => {
    const bundled = await bundle('export { UserClient } from "../../../packages/keyroot/src/user.ts";');
    for (const words of ["@noble/curves", "hashes/hmac", "user/answerChallenge"]) {
      expect(bundled.chunksWith(words)).not.to.be.empty;
      for (const chunk of bundled.chunksWith(words)) expect(bundled.initial).not.to.include(chunk);
    }
  });

  it("the bundler refuses keyroot/partner", async () => {
    const bundled = bundle('export { PartnerClient } from "keyroot/partner";', { logLevel: "silent" });
    expect(await failure(bundled))
      .to.have.nested.property("errors[0].text")
      .that.includes('Could not resolve "keyroot/partner"');
  });
});
