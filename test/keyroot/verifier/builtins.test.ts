import { expect } from "chai";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { SCRIPT } from "../../support/data/brokenBuiltins.ts";
import { describeOnChains, mine, rehash, userID } from "../../support/chain/fiveEndpoints.ts";
import { ENDLESS_MS } from "../../support/endless.ts";

describeOnChains("verifier next to a library that replaces array methods", (chain) => {
  it("finds a quorum's block before the time limit", async () => {
    // Two endpoints return the block, and two return different higher block numbers. A later round uses the lower number.
    let higher = 0xffffff;
    chain.letLie(async (method, params, truth) => {
      const answer = await truth(method, params);
      return method === "eth_getBlockByNumber" && params[0] === "latest"
        ? rehash(answer, { number: `0x${(higher--).toString(16)}` })
        : answer;
    }, 2);
    const quorum = { ...chain.place(), rpc: chain.urls().slice(0, 4) };
    const input = { userID, pubKey: mine.pubKey, quorum };
    const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, JSON.stringify(input)], {
      timeout: ENDLESS_MS,
    });
    expect(stdout.trim()).to.equal("truth");
  });
});
