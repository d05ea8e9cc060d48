import { expect } from "chai";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { verifyPublished } from "../../../scripts/killing/verifyPublished.ts";
import { killPublishers } from "../../../scripts/killPublishing.ts";
import { CompetingPublisher } from "../../../fixtures/publisher/competingPublisher.ts";
import { sharedPostgres } from "../../support/sharedPostgres.ts";
import { describeOnBoth, freshRegistry } from "../../../fixtures/freshRegistry.ts";
import { sampleRecords } from "../../../fixtures/samples.ts";
import { never } from "../../support/support.ts";

describeOnBoth("two services that publish", (startChain) => {
  // `npm run kill:publishing` kills 50 times.
  it("lose no key and publish no key twice if they are killed at random times by kill -9", async () => {
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
  }).timeout(180_000);

  describe("are verified by a check that", () => {
    const fresh = freshRegistry(startChain);
    const [first = never(), second = never(), third = never(), fourth = never()] = sampleRecords(4);
    let publisher: CompetingPublisher;
    beforeEach(async () => {
      for (const name of await readdir(fresh.merkleDir)) await rm(join(fresh.merkleDir, name));
      publisher = new CompetingPublisher(fresh);
      await publisher.publish([first, second]);
    });
    const findings = async (...records: (typeof first)[]) => (await verifyPublished(fresh, records)).findings;

    it("finds nothing if every key has one root, and every root has its file", async () => {
      await publisher.publish([third]);
      expect(await findings(first, second, third)).to.deep.equal([]);
    });

    it("finds a missing key", async () => {
      const [counts, lost] = await findings(first, second, third);
      expect(counts).to.equal("2 users have a root, 3 keys were to be published");
      expect(lost).to.equal(`The user ${third.userID} has no root.`);
    });

    it("finds a key that was published twice", async () => {
      const root = await publisher.publish([second, third]);
      expect(await findings(first, second, third)).to.deep.equal([`root ${root}: 2 users in its file, added for 1`]);
    });

    it("finds a root that was added twice", async () => {
      const root = await publisher.store([third, fourth]);
      for (const record of [third, fourth]) await publisher.untilIncluded(await publisher.add(root, [record]));
      const all = [first, second, third, fourth];
      expect(await findings(...all)).to.deep.equal([`root ${root}: 2 users in its file, added for 1 and 1`]);
    });

    it("finds a missing file, and a file with a different key", async () => {
      const root = await publisher.publish([{ ...third, pubKey: fourth.pubKey, keyID: fourth.keyID }]);
      expect(await findings(first, second, third)).to.deep.equal([
        `The file ${root} has another key of ${third.userID}.`,
      ]);
      await rm(join(fresh.merkleDir, `${root}.json`));
      expect(await findings(first, second, third)).to.deep.equal([
        `root ${root}: no users in its file, added for 1`,
        `The root ${root} of ${third.userID} has no file.`,
      ]);
    });
  });
});
