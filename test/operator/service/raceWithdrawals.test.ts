import { expect } from "chai";
import { raceWithdrawals } from "../../../scripts/raceWithdrawals.ts";
import { startHardhat } from "../../../fixtures/freshRegistry.ts";
import { sharedPostgres } from "../../support/sharedPostgres.ts";

describe("a key that is withdrawn, discarded and published at once, by two services", () => {
  // `npm run race:withdrawals` tries 1,000 keys.
  it("is either removed or published, and never both", async () => {
    const chain = await startHardhat();
    try {
      const postgres = await sharedPostgres();
      const { removed, published, findings } = await raceWithdrawals(60, chain.url, () => postgres.createDatabase());
      expect(findings).to.deep.equal([]);
      expect(removed + published).to.equal(60);
    } finally {
      await chain.close();
    }
  }).timeout(120_000);
});
