import { expect } from "chai";
import { mutateContract } from "../../scripts/mutateContract.ts";

describe("mutants of the contract", function () {
  // Some 80 chains full of tests.
  this.timeout(300_000);

  it("each fail a test, or are listed with the reason why none can tell them apart", async () => {
    const { findings, mutants, killed, equivalent } = await mutateContract();
    expect(findings).to.deep.equal([]);
    expect(killed + equivalent).to.equal(mutants);
    expect(mutants).to.be.greaterThan(70);
  });
});
