import { expect } from "chai";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KeyRecord } from "../../../../packages/keyroot/src/identity/keyRecord.ts";
import { describeOnBoth, freshRegistry } from "../../../../fixtures/freshRegistry.ts";
import type { PlainFile } from "../../../../fixtures/plainFile.ts";
import { sampleRecords } from "../../../../fixtures/samples.ts";
import { failure } from "../../../support/support.ts";
import { type Field, ForeignPublisher, judgeField } from "../../../../fixtures/publisher/rivals.ts";

describeOnBoth("rivals", (startChain) => {
  const fresh = freshRegistry(startChain);
  const field = (): Field => fresh;
  const mine = sampleRecords(6);
  /** The same users, with each other's keys. */
  const theirs = mine.map(({ userID }, i) => ({ ...mine[(i + 1) % 6], userID }) as KeyRecord);
  beforeEach(async () => {
    for (const name of await readdir(fresh.merkleDir)) await rm(join(fresh.merkleDir, name));
  });
  const words = async (records: readonly KeyRecord[]) =>
    ((await failure(judgeField(field(), records))) as Error).message;

  it("judges that all is well: every user has one right root, and every root its file", async () => {
    const root = await new ForeignPublisher(field()).publish(mine);
    const { rootOf, shadowed } = await judgeField(field(), mine);
    expect([...rootOf]).to.deep.equal(mine.map(({ userID }) => [userID, root]));
    expect(shadowed).to.deep.equal([]);
  });

  it("calls the file of whoever came too late shadowed, and takes the key of whoever came first", async () => {
    const foreign = new ForeignPublisher(field());
    const first = await foreign.publish(theirs);
    const late = await foreign.publish(mine);
    expect(await words(mine)).to.match(/has another key of/);
    const { rootOf, shadowed } = await judgeField(field(), [...mine, ...theirs]);
    expect(new Set(rootOf.values())).to.deep.equal(new Set([first]));
    expect(shadowed).to.deep.equal([late]);
  });

  it("finds users without a root, roots without a file, and files that are not their root's", async () => {
    const foreign = new ForeignPublisher(field());
    const root = await foreign.publish(mine.slice(1));
    const path = join(fresh.merkleDir, `${root}.json`);
    expect(await words(mine)).to.match(/has no root/);
    const file = JSON.parse(await readFile(path, "utf8")) as PlainFile;
    const [first, ...others] = file.values;
    for (const [values, complaint] of [
      [[String(first).replace(/"pubKey":"./, '"pubKey":"A'), ...others], /is not the tree of its values/],
      [[first, first, ...others], /is not the tree of its values/],
      [others, /is not the tree of its values/],
    ] as const) {
      await writeFile(path, JSON.stringify({ ...file, values }));
      expect(await words(mine.slice(1))).to.match(complaint);
    }
    await rm(path);
    expect(await words(mine.slice(1))).to.match(/has no file/);
  });

  it("takes another transaction's place, with its nonce and a higher fee", async () => {
    const foreign = new ForeignPublisher(field());
    const [one, two] = [mine.slice(0, 3), mine.slice(3)];
    const nonce = (await fresh.call("eth_getTransactionCount", [fresh.owner, "latest"])) as string;
    await fresh.call("evm_setAutomine", [false]);
    try {
      const fees = (gwei: bigint) => {
        const fee = `0x${(gwei * 10n ** 9n).toString(16)}`;
        return { nonce, gas: "0x7a120", maxFeePerGas: fee, maxPriorityFeePerGas: fee };
      };
      await foreign.add(await foreign.store(one), one, fees(100n));
      await foreign.add(await foreign.store(two), two, fees(200n));
      await fresh.call("hardhat_mine", ["0x1"]);
    } finally {
      await fresh.call("evm_setAutomine", [true]);
    }
    expect(await words(one)).to.match(/has no root/);
    expect((await judgeField(field(), two)).shadowed).to.have.lengthOf(1);
  });
});
