import { expect } from "chai";
import { testAll } from "../../../fixtures/testAll.ts";
import { isCached } from "../../../scripts/failover/programs.ts";
import { killFailover } from "../../../scripts/killFailover.ts";

describe("a database with a leader and two standbys", () => {
  // `npm run kill:failover` injects 30 faults of seven kinds.
  it("loses nothing that was acknowledged if its leader is killed under load", async function () {
    if (!testAll) this.skip(); // It takes a minute: `npm run test:all` runs it.
    if (!isCached()) this.skip(); // CI installs no Patroni, etcd and HAProxy: `npm run kill:failover` downloads them.
    this.timeout(300_000);
    const { findings, acknowledged, refused, outages } = await killFailover(["leader killed"], () => undefined);
    expect(findings).to.deep.equal([]);
    for (const count of Object.values(acknowledged)) expect(count).to.be.greaterThan(0);
    expect(refused).to.be.greaterThan(0);
    expect(outages).to.have.lengthOf(1);
  });
});
