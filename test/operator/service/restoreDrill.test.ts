import { expect } from "chai";
import { testAll } from "../../../fixtures/testAll.ts";
import { restoreDrill } from "../../../scripts/restoreDrill.ts";

describe("a database that was restored to a point in time", () => {
  it("is reconciled with the chain: no published key is lost or different, and the audit passes", async function () {
    if (!testAll) this.skip(); // It takes 10 s: `npm run test:all` runs it.
    this.timeout(120_000);
    const { findings, audit, reconciled } = await restoreDrill();
    expect(findings).to.deep.equal([]);
    expect(audit).to.equal("passed");
    expect(reconciled).to.deep.include({ recorded: 12, replaced: 6, added: 6, unknownUsers: 12, missingFiles: [] });
  });
});
