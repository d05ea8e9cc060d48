import { expect } from "chai";
import { type GasRecord, measureGas } from "../../bench/gas.ts";
import { newestResult } from "../../bench/runner/results.ts";

describe("gas", () => {
  let measured: GasRecord;

  before(async () => {
    measured = await measureGas();
  });

  it("equals the recorded gas (to update it: npm run bench -- gas --record)", () => {
    const { deployment, addMerkleTreeRoot } = newestResult("gas").figures;
    expect(deployment?.rows).to.deep.equal([{ gas: measured.deployment }]);
    expect(addMerkleTreeRoot?.rows).to.deep.equal(measured.addMerkleTreeRoot);
  });

  it("for 700 users is at most 1.1 % above the least possible", () => {
    const calls = measured.addMerkleTreeRoot.filter(({ users }) => users === 700);
    expect(calls).to.have.length(4);
    for (const { ratioToFloor } of calls) expect(ratioToFloor).to.be.at.most(1.011);
  });

  it("for 700 users fits in one transaction", () => {
    const calls = measured.addMerkleTreeRoot.filter(({ users }) => users === 700);
    for (const { fitsTransaction } of calls) expect(fitsTransaction).to.equal(true);
  });
});
