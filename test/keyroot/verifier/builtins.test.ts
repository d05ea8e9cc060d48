import { expect } from "chai";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { makeMerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import { sampleRecords } from "../../../fixtures/samples.ts";
import { SCRIPT } from "../../support/brokenBuiltins.ts";
import { cannedAnswers } from "../../support/cannedAnswers.ts";
import { describeOnChains, mine, other, rehash, userID } from "../../support/fiveEndpoints.ts";

describeOnChains("the verifier, next to a library that replaces methods of Array", (chain) => {
  it("ends in time: a quorum succeeds, and no changed file is accepted", async () => {
    // Two members have the block, the other two claim a higher one: a second round is at the lower claim.
    chain.letLie(async (method, params, truth) => {
      const answer = await truth(method, params);
      return method === "eth_getBlockByNumber" && params[0] === "latest"
        ? rehash(answer, { number: "0xffffff" })
        : answer;
    }, 2);
    const { chainId, contract, files } = chain;
    const quorum = { chainId, contract, merkleUrl: files.url, rpc: chain.urls().slice(0, 4) };
    const [first, second] = sampleRecords(2) as [KeyRecord, KeyRecord];
    const { answers, options } = cannedAnswers(makeMerkleFile([first, second]));
    const changed = makeMerkleFile([
      { ...second, userID: first.userID },
      { ...first, userID: second.userID },
    ]);
    const { answers: lies } = cannedAnswers(changed);
    const { rpc, merkleUrl, ...place } = options;
    const input = {
      userID,
      publicKeys: [mine.pubKey, other.pubKey],
      quorum,
      changed: {
        answers: { ...answers, file: lies.file },
        options: { rpc, merkleUrl, chainId: place.chainId, contract: place.contract },
      },
    };
    const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, JSON.stringify(input)], {
      timeout: 60_000,
    });
    const results = JSON.parse(stdout) as Record<string, string>;
    expect(results["quorum"]).to.equal("truth");
    expect(Object.keys(results)).to.have.lengthOf(37);
    for (const [what, result] of Object.entries(results))
      if (what !== "quorum") expect(result, what).not.to.be.oneOf(["lie", "truth"]);
  }).timeout(60_000);
});
