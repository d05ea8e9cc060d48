import { expect } from "chai";
import { killUnderLoad } from "../../../scripts/killService.ts";

describe("kill -9 under load", () => {
  // `npm run kill:service` kills 20 times.
  it("of the service and of its PostgreSQL loses no acknowledged user, token or key", async function () {
    this.timeout(120_000);
    const { kills, acknowledged, interrupted, findings } = await killUnderLoad(["service", "postgres"]);
    expect(findings).to.deep.equal([]);
    expect(kills).to.deep.equal({ service: 1, postgres: 1 });
    expect(interrupted).to.be.greaterThan(0);
    for (const count of Object.values(acknowledged)) expect(count).to.be.greaterThan(0);
  });

  it("is found to lose data that a PostgreSQL acknowledges before it writes them", async function () {
    this.timeout(120_000);
    const { findings } = await killUnderLoad(["postgres"], { synchronous_commit: "off", wal_writer_delay: "10s" });
    expect(findings).not.to.be.empty;
  });
});
