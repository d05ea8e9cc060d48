import { expect } from "chai";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FolderStore, MemoryJournal } from "@keyroot/operator/publisher";
import { fetchUserCount } from "keyroot/internal/registry";
import { TransportError, VerificationError } from "../../../packages/operator/src/errors.ts";
import { sampleRecords } from "../../support/samples.ts";
import { publishing } from "../../support/publisher/publishing.ts";
import { failure, never } from "../../support/support.ts";
import { describeOnBoth } from "../../support/chain/freshRegistry.ts";

describeOnBoth("publish, after the store lost files of the plan", (startChain) => {
  const { fresh, publishVia, publishAll, beforeSending, verify, stored } = publishing(startChain);

  const records = sampleRecords(8);
  let journal: MemoryJournal;
  /** Interrupts a plan of four files after its first root. @returns the files, in the order of the plan */
  const interrupt = async () => {
    journal = new MemoryJournal();
    const via = beforeSending((count) => {
      if (count === 2) throw new Error("killed");
    });
    await failure(publishVia(via, records, { usersPerFile: 2, journal, sending: { inFlight: 1 } }));
    const plan = (await journal.readPlan()) ?? never();
    return plan.batches.map((batch) => ({ ...batch, userIDs: batch.userIDs, name: `${batch.root}.json` }));
  };
  const lose = (name: string) => rm(join(fresh.filesDir, name));
  const read = async (name: string) => readFile(join(fresh.filesDir, name), "utf8");
  const failsIfSent = beforeSending(() => {
    throw new Error("no root must be added");
  });
  const addedUsers = async () => String(await fetchUserCount(fresh.call, fresh.contract));

  it("rebuilds the files from the records, byte for byte", async () => {
    const files = await interrupt();
    const before = await Promise.all(files.map(({ name }) => read(name)));
    const [first = never(), , , last = never()] = files;
    for (const { name } of [first, last]) await lose(name);

    const rebuilt: unknown[] = [];
    const served: string[] = [];
    const { published } = await publishAll(records.toReversed(), {
      journal,
      fetchFile: async (root) => {
        served.push(root);
        return readFile(join(fresh.filesDir, `${root}.json`));
      },
      onEvent: (event) => {
        if (event.event === "rebuilt") rebuilt.push(event);
        if (event.event === "sent") expect(served).to.have.lengthOf(4);
      },
    });
    expect(rebuilt).to.deep.equal([first, last].map(({ root }) => ({ event: "rebuilt", root, users: 2 })));
    expect(published.map(({ root }) => root)).to.have.members(files.map(({ root }) => root));
    expect(await Promise.all(files.map(({ name }) => read(name)))).to.deep.equal(before);
    expect(await stored()).to.have.members(files.map(({ name }) => name));
    expect(await addedUsers()).to.equal("8");
    for (const record of records) await verify(record);
  });

  it("publishes users who were added to the records afterwards", async () => {
    const files = await interrupt();
    for (const { name } of files) await lose(name);
    const more = sampleRecords(11);
    const { published, alreadyPublished } = await publishAll(more, { journal });
    expect([published.length, alreadyPublished]).to.deep.equal([5, 0]);
    for (const record of more) await verify(record);
  });

  it("reports the lost file, and the number of its users without a record", async () => {
    const [, lost = never()] = await interrupt();
    await lose(lost.name);
    const given = records.filter(({ userID }) => userID !== lost.userIDs[1]);
    const error = (await failure(publishVia(failsIfSent, given, { journal }))) as Error;
    expect(error).to.be.an.instanceof(VerificationError).that.includes({ code: "FILE_NOT_FOUND", step: "file" });
    expect(error.message)
      .to.include(lost.name)
      .and.include("they lack 1 of its 2 users")
      .and.include("Pass the records that the plan was made from")
      .and.include("from a backup")
      .and.include("--plan DIR");
    expect(await stored())
      .to.have.lengthOf(3)
      .and.not.include(lost.name);
    expect(await addedUsers()).to.equal("2");

    await publishAll(records, { journal });
    for (const record of records) await verify(record);
  });

  it("reports a record whose key differs from the plan", async () => {
    const [, , lost = never()] = await interrupt();
    await lose(lost.name);
    const [, stranger = never()] = sampleRecords(2, 100);
    const given = records.map((record) =>
      record.userID === lost.userIDs[0] ? { ...stranger, userID: record.userID } : record,
    );
    const error = (await failure(publishVia(failsIfSent, given, { journal }))) as Error;
    expect(error).to.be.an.instanceof(VerificationError).with.property("code", "FILE_NOT_FOUND");
    expect(error.message).to.include(lost.name).and.include("they have other keys for its 2 users");
    expect(await stored()).to.not.include(lost.name);
  });

  it("does not overwrite a file with different content", async () => {
    const [, damaged = never()] = await interrupt();
    const whole = await read(damaged.name);
    for (const [other, code] of [
      ["", "JSON_INVALID"],
      [whole.slice(0, -1), "JSON_INVALID"],
      [whole.replace('"leaves":2', '"leaves":3'), "TREE_MISMATCH"],
      [JSON.stringify(JSON.parse(whole), null, 2), "FILE_CONFLICT"],
    ] as const) {
      await writeFile(join(fresh.filesDir, damaged.name), other);
      expect(await failure(publishVia(failsIfSent, records, { journal }))).to.have.property("code", code);
      expect(await read(damaged.name)).to.equal(other);
    }
  });

  it("adds no root if the store or the file host fails", async () => {
    const [, lost = never()] = await interrupt();
    await lose(lost.name);
    const store = new FolderStore(fresh.filesDir);
    const fail = () => Promise.reject(new TransportError("FILE_UNREADABLE", "the disk is gone"));
    const unreadable = { put: store.put.bind(store), get: fail };
    expect(await failure(publishVia(failsIfSent, records, { journal, store: unreadable }))).to.have.property(
      "code",
      "FILE_UNREADABLE",
    );
    expect(await stored()).to.not.include(lost.name);
    const fetchFile = (root: string) =>
      root === lost.root
        ? Promise.reject(new VerificationError("file", "FILE_NOT_FOUND", ""))
        : readFile(join(fresh.filesDir, `${root}.json`));
    expect(await failure(publishVia(failsIfSent, records, { journal, fetchFile }))).to.have.property(
      "code",
      "FILE_NOT_FOUND",
    );
    await publishAll(records, { journal });
    for (const record of records) await verify(record);
  });
});
