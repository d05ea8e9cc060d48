import { expect } from "chai";
import { mutateContract } from "../../scripts/mutateContract.ts";

describe("mutants of the contract", function () {
  // Runs the contract's tests about 80 times.
  this.timeout(300_000);

  it("each fail a test, or are listed with the reason why they behave like the contract", async () => {
    const { findings, mutants, killed, equivalent } = await mutateContract();
    expect(findings).to.deep.equal([]);
    expect(killed + equivalent).to.equal(mutants);
    expect(mutants).to.be.greaterThan(70);
  });
});
