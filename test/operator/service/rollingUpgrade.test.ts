import { expect } from "chai";
import { upgradeUnderLoad } from "../../../scripts/rollingUpgrade.ts";
import { testAll } from "../../../fixtures/testAll.ts";

// It starts 16 processes one after the other, so only `npm run test:all` and `npm run upgrade:rolling` run it.
if (testAll)
  describe("a rolling upgrade under load", () => {
    it("to a version that adds a column, one that stops using it, and one that removes it fails no request", async function () {
      this.timeout(240_000);
      const { replaced, acknowledged, failures, refused, findings } = await upgradeUnderLoad();
      expect(findings).to.deep.equal([]);
      expect(failures).to.equal(0);
      expect(replaced).to.equal(9);
      for (const count of Object.values(acknowledged)) expect(count).to.be.greaterThan(0);
      // Versions that use the removed column do not start any more.
      expect(refused).to.deep.equal(["current", "adds"]);
    });
  });
