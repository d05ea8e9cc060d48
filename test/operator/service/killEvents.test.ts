import { expect } from "chai";
import { testAll } from "../../../fixtures/testAll.ts";
import { killEvents } from "../../../scripts/killEvents.ts";

// `npm run kill:events` causes 10,000 events and kills 20 times. Only `npm run test:all` has the time for a part of it.
(testAll ? describe : describe.skip)("kill -9 while events are delivered", () => {
  it("of the service and of its PostgreSQL loses no event, and delivers none without its change", async function () {
    this.timeout(240_000);
    const { kills, events, findings, findingsWithoutOneEvent, endpointFailures } = await killEvents({
      events: 300,
      kills: 2,
      hurry: true,
    });
    expect(findings).to.deep.equal([]);
    expect(kills).to.deep.equal({ service: 1, postgres: 1 });
    expect(events).to.be.at.least(300);
    expect(endpointFailures).to.be.greaterThan(0);
    // An event that is missing is found: as a change without event, and as a delivery without event.
    expect(findingsWithoutOneEvent).to.have.length(2);
  });
});
