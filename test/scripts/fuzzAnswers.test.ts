import { expect } from "chai";
import { attackChoice } from "../../scripts/fuzz/answers/attackChoice.ts";
import { type Battlefield, startBattlefield } from "../../scripts/fuzz/answers/choices.ts";
import { everything } from "../support/everything.ts";
import { SEED } from "../support/faults.ts";
import { testAll } from "../support/testSize.ts";

/** The number of attacks on each trust choice. */
const ATTACKS = everything ? 1000 : testAll ? 300 : 150;
const CHOICES = [
  ...["oneEndpoint", "endpoints", "ownNode", "pinnedBlock", "lightClient", "auditors"],
  ...["pinnedBlock, bundle", "auditors, bundle", "lightClient, bundle"],
];

describe("an attacker who changes and forges answers", () => {
  let battlefield: Battlefield;
  before(async () => {
    battlefield = await startBattlefield();
  });
  after(() => battlefield[Symbol.asyncDispose]());

  it("attacks every trust choice", () => {
    expect(Object.keys(battlefield.choices)).to.deep.equal(CHOICES);
  });

  for (const name of CHOICES)
    it(`gets no false key accepted with ${name}, and causes only Keyroot errors`, async () => {
      const report = await attackChoice(battlefield, name, { attacks: ATTACKS, seed: SEED });
      expect(report.defect).to.equal(undefined);
      expect(report).to.include({ attacks: ATTACKS, falselyAccepted: 0, unexpected: 0 });
      expect(report.codes.size).to.be.above(5);
    });

  it("gets a false key accepted from whom the app trusts, so the attacks are real", async () => {
    for (const name of ["oneEndpoint", "endpoints", "ownNode"]) {
      const choice = battlefield.choices[name];
      if (choice === undefined) throw new Error(`There is no choice ${name}.`);
      const trusted = { ...choice, power: { mayForge: () => true } };
      const choices = { ...battlefield.choices, [name]: trusted };
      const report = await attackChoice({ ...battlefield, choices }, name, { attacks: ATTACKS, seed: SEED });
      expect(report.falselyAccepted, name).to.be.above(0);
      expect(report.defect, name).to.contain("The verification accepted");
    }
  });
});
