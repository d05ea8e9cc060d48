import { expect } from "chai";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeyRecord } from "keyroot/internal/identity";
import { describeOnBoth, freshRegistry } from "../../../support/chain/freshRegistry.ts";
import type { PlainFile } from "../../../support/data/plainFile.ts";
import { sampleRecords } from "../../../support/samples.ts";
import { failure } from "../../../support/support.ts";
import { CompetingPublisher } from "../../../support/publisher/competingPublisher.ts";
import { verifyDeployment } from "../../../support/publisher/deployment.ts";

describeOnBoth("verifyDeployment", (startChain) => {
  const fresh = freshRegistry(startChain);
  const mine = sampleRecords(6);
  /** The same users with each other's keys. */
  const theirs = mine.map(({ userID }, i) => ({ ...mine[(i + 1) % 6], userID }) as KeyRecord);
  const errorOf = async (records: readonly KeyRecord[]) =>
    ((await failure(verifyDeployment(fresh, records))) as Error).message;

  it("returns every user's root if every root has a correct file", async () => {
    const root = await new CompetingPublisher(fresh).publish(mine);
    const { rootOf, unusedRoots } = await verifyDeployment(fresh, mine);
    expect([...rootOf]).to.deep.equal(mine.map(({ userID }) => [userID, root]));
    expect(unusedRoots).to.deep.equal([]);
  });

  it("returns the root of a later publisher as unused", async () => {
    const publisher = new CompetingPublisher(fresh);
    const first = await publisher.publish(theirs);
    const late = await publisher.publish(mine);
    expect(await errorOf(mine)).to.match(/has another key of/);
    const { rootOf, unusedRoots } = await verifyDeployment(fresh, [...mine, ...theirs]);
    expect(new Set(rootOf.values())).to.deep.equal(new Set([first]));
    expect(unusedRoots).to.deep.equal([late]);
  });

  it("rejects users without a root and roots without a correct file", async () => {
    const publisher = new CompetingPublisher(fresh);
    const root = await publisher.publish(mine.slice(1));
    const path = join(fresh.filesDir, `${root}.json`);
    expect(await errorOf(mine)).to.match(/has no root/);
    const file = JSON.parse(await readFile(path, "utf8")) as PlainFile;
    const [first, ...others] = file.values;
    for (const [values, message] of [
      [[String(first).replace(/"pubKey":"./, '"pubKey":"A'), ...others], /is not the tree of its values/],
      [[first, first, ...others], /is not the tree of its values/],
      [others, /is not the tree of its values/],
    ] as const) {
      await writeFile(path, JSON.stringify({ ...file, values }));
      expect(await errorOf(mine.slice(1))).to.match(message);
    }
    await rm(path);
    expect(await errorOf(mine.slice(1))).to.match(/has no file/);
  });
});
