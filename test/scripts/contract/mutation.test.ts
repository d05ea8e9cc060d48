import { expect } from "chai";
import { testAll } from "../../support/testSize.ts";
import { mutateContract } from "../../../scripts/mutation/mutateContract.ts";

// Runs the contract's tests about 80 times, which takes more than a minute of processor time.
(testAll ? describe : describe.skip)("mutants of the contract", function () {
  // Ends only endless waits: all mutants take minutes.
  this.timeout(7_200_000);

  it("each fail a test, or are listed with the reason why they behave like the contract", async () => {
    const { findings, mutants, killed, equivalent } = await mutateContract();
    expect(findings).to.deep.equal([]);
    expect(killed + equivalent).to.equal(mutants);
    expect(mutants).to.be.greaterThan(70);
  });
});
