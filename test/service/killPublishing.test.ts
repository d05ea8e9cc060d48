import { expect } from "chai";
import { killPublishers } from "../../scripts/killPublishing.ts";
import { sharedPostgres } from "../postgres/shared.ts";
import { describeOnBoth } from "../publisher/freshRegistry.ts";

describeOnBoth("two services that publish", (startChain) => {
  // `npm run kill:publishing` does it 50 times.
  it("lose no key and publish none twice when they are killed at random moments by kill -9", async () => {
    const chain = await startChain();
    try {
      const postgres = await sharedPostgres();
      const killed = await killPublishers(3, chain.url, () => postgres.createDatabase());
      const { findings, kills, acknowledged, roots } = killed;
      expect(findings).to.deep.equal([]);
      expect(kills).to.equal(3);
      expect(acknowledged.keys).to.be.greaterThan(0);
      expect(roots).to.be.greaterThan(1);
    } finally {
      await chain.close();
    }
  });
});
