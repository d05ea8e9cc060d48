import { expect } from "chai";
import fc from "fast-check";
import { checkUsersPerFile, cutIntoFiles, RecordTable } from "@keyroot/operator/publisher";
import { refusalOf } from "../../../support/refusalOf.ts";
import { sampleRecords } from "../../../support/samples.ts";

const anyRecords = fc.integer({ min: 1, max: 60 }).map((count) => sampleRecords(count));

describe("cutIntoFiles", () => {
  it("puts each record into one file, and fills files to the requested size", () => {
    fc.assert(
      fc.property(anyRecords, fc.integer({ min: 1, max: 70 }), (records, usersPerFile) => {
        const files = [...cutIntoFiles(RecordTable.of(records), usersPerFile)];
        const sizes = files.map((file) => file.records.length);
        expect(sizes.slice(0, -1).every((size) => size === usersPerFile)).to.be.true;
        expect(sizes.at(-1)).to.be.within(1, usersPerFile);
        expect(files.flatMap((file) => file.records)).to.have.deep.members(records);
      }),
    );
  });

  it("sorts records by user id across all files", () => {
    const files = [...cutIntoFiles(RecordTable.of(sampleRecords(50)), 7)];
    const userIDs = files.flatMap((file) => file.records.map(({ userID }) => userID));
    expect(userIDs).to.deep.equal(userIDs.toSorted());
  });

  it("makes the same files from the same records in any order", () => {
    const records = sampleRecords(50);
    const rootsOf = (some: typeof records) =>
      Array.from(cutIntoFiles(RecordTable.of(some), 20), ({ tree }) => tree.root);
    expect(rootsOf(records.toReversed())).to.deep.equal(rootsOf(records));
  });

  it("makes no file if there are no records", () => {
    expect([...cutIntoFiles(RecordTable.empty(), 1)]).to.be.empty;
  });

  it("rejects an invalid number of users per file", () => {
    for (const usersPerFile of [0, -1, 1.5, NaN, Infinity, 1_000_001]) {
      expect(
        refusalOf(() => cutIntoFiles(RecordTable.of(sampleRecords(1)), usersPerFile).next()),
        `${usersPerFile}`,
      ).to.equal("ARGUMENT_INVALID");
    }
    checkUsersPerFile(1);
    checkUsersPerFile(1_000_000);
  });
});
