import { expect } from "chai";
import fc from "fast-check";
import { RecordTable } from "../../../../packages/operator/src/publisher/records/recordTable.ts";
import { refusalOf } from "../../../support/refusalOf.ts";
import { sampleRecords } from "../../../support/samples.ts";
import { never } from "../../../support/support.ts";

const byUser = (records: ReturnType<typeof sampleRecords>) =>
  records.toSorted((a, b) => (a.userID < b.userID ? -1 : 1));

describe("RecordTable", () => {
  describe("RecordTable.of", () => {
    it("contains every record, sorted by user id", () => {
      const anyOrder = fc.integer({ min: 0, max: 300 }).chain((count) => {
        const records = sampleRecords(count);
        return fc.shuffledSubarray(records, { minLength: count });
      });
      fc.assert(
        fc.property(anyOrder, (records) => {
          const table = RecordTable.of(records);
          expect(table.length).to.equal(records.length);
          expect([...table]).to.deep.equal(byUser(records));
        }),
        { numRuns: 50 },
      );
    });

    it("sorts users whose ids differ only in the last character", () => {
      const [one = never()] = sampleRecords(1);
      const records = Array.from("9y1bh", (digit) => ({ ...one, userID: one.userID.slice(0, -1) + digit }));
      expect(
        RecordTable.of(records)
          .userIDs(0, 5)
          .map((userID) => userID.at(-1))
          .join(""),
      ).to.equal("19bhy");
    });

    it("stores the values that it checked, even if the record changes later", () => {
      const [one = never(), two = never()] = sampleRecords(2);
      let reads = 0;
      const changing = {
        ...one,
        get keyID() {
          return ++reads === 1 ? one.keyID : two.keyID;
        },
      };
      expect([...RecordTable.of([changing])]).to.deep.equal([one]);
    });

    it("rejects invalid records and users with two records", () => {
      const [one = never(), two = never()] = sampleRecords(2);
      expect(refusalOf(() => RecordTable.of([one, two, { ...two, userID: one.userID }]))).to.equal("DUPLICATE_USER");
      expect(refusalOf(() => RecordTable.of([{ ...one, keyID: two.keyID }]))).to.equal("KEY_ID_MISMATCH");
      expect(refusalOf(() => RecordTable.of([{ ...one, userID: "É".repeat(32) }]))).to.equal("USER_ID_INVALID");
    });
  });

  describe("sortByUser", () => {
    it("keeps the first record of each user", () => {
      const records = sampleRecords(5);
      const table = RecordTable.empty();
      for (const [i, record] of [...records, ...records.slice(1, 3)].entries()) table.add(record, 10 * i);
      const expected = [1, 2].map((i) => ({ userID: records[i]?.userID, firstLine: 10 * i, line: 10 * (4 + i) }));
      expect(table.sortByUser()).to.have.deep.members(expected);
      expect([...table]).to.deep.equal(byUser(records));
    });

    it("sorts 40,000 records, which fill several chunks", () => {
      const samples = sampleRecords(4);
      const table = RecordTable.empty();
      const userIDs = sampleIDs(40_000);
      for (const [i, userID] of userIDs.entries()) table.add({ ...(samples[i % 4] ?? never()), userID });
      expect(table.sortByUser()).to.be.empty;
      expect(table.userIDs(0, 40_000)).to.deep.equal(userIDs.toSorted());
    });
  });

  describe("recordsOf", () => {
    it("returns the records of the given users in the order of the users", () => {
      const records = sampleRecords(40);
      const tables = fc.subarray(records.slice(0, 30));
      const users = fc.shuffledSubarray(records);
      fc.assert(
        fc.property(tables, users, (some, requested) => {
          const found = RecordTable.of(some).recordsOf(requested.map(({ userID }) => userID));
          expect(found).to.deep.equal(requested.filter((record) => some.includes(record)));
        }),
      );
    });

    it("finds each of 40,000 users whose ids have common prefixes", () => {
      const samples = sampleRecords(2);
      const table = RecordTable.empty();
      const userIDs = sampleIDs(40_000);
      for (const sample of samples) for (const userID of userIDs) table.add({ ...sample, userID });
      table.sortByUser();
      const even = table.filter((position) => position % 2 === 0);
      const found = even.recordsOf(userIDs);
      expect(found.map(({ userID }) => userID).toSorted()).to.deep.equal(even.userIDs(0, 40_000));
      expect(new Set(found.map(({ pubKey }) => pubKey))).to.deep.equal(new Set([samples[0]?.pubKey]));
    });
  });

  describe("filter", () => {
    it("returns a new table with the records at the selected positions", () => {
      const table = RecordTable.of(sampleRecords(10));
      const even = table.filter((position) => position % 2 === 0);
      expect(even.userIDs(0, 10)).to.deep.equal(table.userIDs(0, 10).filter((_, i) => i % 2 === 0));
      expect([even.length, table.length]).to.deep.equal([5, 10]);
    });
  });
});

/** Creates user ids with common prefixes. */
function sampleIDs(count: number): string[] {
  const digits = "ybndrfg8ejkmcpqxot1uwisza345h769";
  const encode = (number: number) => Array.from({ length: 4 }, (_, i) => digits[(number >> (5 * i)) % 32]).join("");
  return Array.from({ length: count }, (_, i) => `yyyyyyyy${encode((i * 7919) % 2 ** 20).padEnd(24, "y")}`);
}
