import { expect } from "chai";
import { MemoryJournal } from "@keyroot/operator/publisher";
import { ArgumentError } from "keyroot/internal/errors";
import { checkNewPublicKey, checkPublicKey, type KeyRecord, makeKeyRecord } from "keyroot/internal/identity";
import { fetchUserCount } from "keyroot/internal/registry";
import { SubgroupChecker } from "../../../../packages/operator/src/publisher/records/subgroupChecker.ts";
import { encode, P } from "../../../support/data/curve41417.ts";
import { publishing } from "../../../support/publisher/publishing.ts";
import { sampleRecords } from "../../../support/samples.ts";
import { failure, never } from "../../../support/support.ts";

describe("the subgroup check", () => {
  const { fresh, publishAll, stored } = publishing();
  const records = sampleRecords(250);
  const [first = never(), second = never()] = records;
  /** Adds (0, -1), the point of order 2, to the key of a record. The sum is on the curve and does not have a small order. */
  const spoil = ({ userID, pubKey }: KeyRecord) => {
    const hex = Buffer.from(pubKey, "base64").toString("hex");
    const [x, y] = [hex.slice(2, 106), hex.slice(106)].map((coordinate) => BigInt(`0x${coordinate}`));
    const key = encode({ x: P - (x ?? never()), y: P - (y ?? never()) });
    checkPublicKey(key);
    expect(() => {
      checkNewPublicKey(key);
    })
      .to.throw(ArgumentError)
      .with.property("code", "PUBLIC_KEY_NOT_PRIME_ORDER");
    return makeKeyRecord(userID, key);
  };

  it("accepts the keys that registration accepts", async () => {
    await using checker = new SubgroupChecker();
    const progress: number[] = [];
    await checker.check(records, (done) => progress.push(done));
    expect(progress.toSorted((a, b) => a - b)).to.deep.equal(progress);
    expect(progress.at(-1)).to.equal(250);
    await checker.check([]);
  });

  it("names the users whose keys registration would reject", async () => {
    await using checker = new SubgroupChecker();
    const bad = [records[7] ?? never(), records[200] ?? never()];
    const mixed = records.map((record) => (bad.includes(record) ? spoil(record) : record));
    const error = (await failure(checker.check(mixed))) as Error;
    expect(error).to.be.instanceOf(ArgumentError).with.property("code", "PUBLIC_KEY_NOT_PRIME_ORDER");
    for (const { userID } of bad) expect(error.message).to.include(userID);
    expect(error.message).not.to.include(first.userID);
  });

  it("names at most 20 users", async () => {
    await using checker = new SubgroupChecker();
    const error = (await failure(checker.check(records.slice(0, 25).map(spoil)))) as Error;
    expect(error.message).to.match(/^Registration would reject 25 public keys, .* and 5 more\.$/);
  });

  it("ends publish before files are stored or transactions are sent", async () => {
    const error = await failure(publishAll([first, spoil(second)], { checkSubgroup: true }));
    expect(error).to.include({ code: "PUBLIC_KEY_NOT_PRIME_ORDER" });
    expect(await stored()).to.deep.equal([]);
    expect(await fetchUserCount(fresh.call, fresh.contract)).to.equal(0);
    const { published } = await publishAll([first, second], { checkSubgroup: true });
    expect(published.map(({ users }) => users)).to.deep.equal([2]);
  });

  it("also rejects the keys of a resumed plan", async () => {
    const journal = new MemoryJournal();
    const stop = () => Promise.reject(new Error("stopped"));
    await failure(publishAll([spoil(second)], { journal, send: stop }));
    expect(await journal.readPlan()).not.to.equal(undefined);
    const error = await failure(publishAll([first], { journal, checkSubgroup: true }));
    expect(error).to.include({ code: "PUBLIC_KEY_NOT_PRIME_ORDER" });
    expect(await fetchUserCount(fresh.call, fresh.contract)).to.equal(0);
  });
});
