import { expect } from "chai";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeyRecord } from "../../../../packages/keyroot/src/identity/keyRecord.ts";
import { describeOnBoth, freshRegistry } from "../../../../fixtures/freshRegistry.ts";
import type { PlainFile } from "../../../../fixtures/plainFile.ts";
import { sampleRecords } from "../../../../fixtures/samples.ts";
import { failure } from "../../../support/support.ts";
import { CompetingPublisher } from "../../../../fixtures/publisher/competingPublisher.ts";
import { verifyDeployment } from "../../../../fixtures/publisher/deployment.ts";

describeOnBoth("verifyDeployment", (startChain) => {
  const fresh = freshRegistry(startChain);
  const mine = sampleRecords(6);
  /** The same users with exchanged keys. */
  const theirs = mine.map(({ userID }, i) => ({ ...mine[(i + 1) % 6], userID }) as KeyRecord);
  beforeEach(async () => {
    for (const name of await readdir(fresh.merkleDir)) await rm(join(fresh.merkleDir, name));
  });
  const errorOf = async (records: readonly KeyRecord[]) =>
    ((await failure(verifyDeployment(fresh, records))) as Error).message;

  it("returns every user's root if every root has a right file", async () => {
    const root = await new CompetingPublisher(fresh).publish(mine);
    const { rootOf, unusedRoots } = await verifyDeployment(fresh, mine);
    expect([...rootOf]).to.deep.equal(mine.map(({ userID }) => [userID, root]));
    expect(unusedRoots).to.deep.equal([]);
  });

  it("accepts the key of the first publisher, and returns the root of a later one as unused", async () => {
    const publisher = new CompetingPublisher(fresh);
    const first = await publisher.publish(theirs);
    const late = await publisher.publish(mine);
    expect(await errorOf(mine)).to.match(/has another key of/);
    const { rootOf, unusedRoots } = await verifyDeployment(fresh, [...mine, ...theirs]);
    expect(new Set(rootOf.values())).to.deep.equal(new Set([first]));
    expect(unusedRoots).to.deep.equal([late]);
  });

  it("rejects users without a root, roots without a file, and files of other roots", async () => {
    const publisher = new CompetingPublisher(fresh);
    const root = await publisher.publish(mine.slice(1));
    const path = join(fresh.merkleDir, `${root}.json`);
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

  it("accepts a transaction that replaced another one, with its nonce and a higher fee", async () => {
    const publisher = new CompetingPublisher(fresh);
    const [one, two] = [mine.slice(0, 3), mine.slice(3)];
    const nonce = (await fresh.call("eth_getTransactionCount", [fresh.owner, "latest"])) as string;
    await fresh.call("evm_setAutomine", [false]);
    try {
      const fees = (gwei: bigint) => {
        const fee = `0x${(gwei * 10n ** 9n).toString(16)}`;
        return { nonce, gas: "0x7a120", maxFeePerGas: fee, maxPriorityFeePerGas: fee };
      };
      await publisher.add(await publisher.store(one), one, fees(100n));
      await publisher.add(await publisher.store(two), two, fees(200n));
      await fresh.call("hardhat_mine", ["0x1"]);
    } finally {
      await fresh.call("evm_setAutomine", [true]);
    }
    expect(await errorOf(one)).to.match(/has no root/);
    expect((await verifyDeployment(fresh, two)).unusedRoots).to.have.lengthOf(1);
  });
});
