import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { type GasRecord, measureGas } from "../../bench/gas.ts";

describe("gas", () => {
  let measured: GasRecord;

  before(async () => {
    measured = await measureGas();
  });

  it("equals the recorded gas (to update it: npm run bench:gas)", async () => {
    const recorded: unknown = JSON.parse(await readFile(new URL("../../bench/gas.json", import.meta.url), "utf8"));
    expect(measured).to.deep.equal(recorded);
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
