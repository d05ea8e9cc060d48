import { expect } from "chai";
import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FolderJournal, packBatch, planTargetOf, type PublishEvent } from "@keyroot/operator/publisher";
import { ArgumentError, VerificationError } from "keyroot/internal/errors";
import type { KeyRecord } from "keyroot/internal/identity";
import { fetchUserCount } from "keyroot/internal/registry";
import { plainFile } from "../../../support/data/plainFile.ts";
import { publishing } from "../../../support/publisher/publishing.ts";
import { sampleRecords } from "../../../support/samples.ts";
import { failure, modeOf, never, temporaryFolder } from "../../../support/support.ts";

describe("a resumed plan", () => {
  const { fresh, ...publisher } = publishing();
  const folder = temporaryFolder();
  const [mine = never(), other = never(), attacker = never()] = sampleRecords(3);
  const plan = () => join(folder.path, "plan");

  /** Writes a plan and its file, as someone with access to both folders could. */
  const plant = async (records: readonly KeyRecord[]) => {
    const sorted = records.toSorted((a, b) => (a.userID < b.userID ? -1 : 1));
    const { root, ...file } = plainFile(sorted.map((record) => JSON.stringify(record)));
    const text = JSON.stringify(file);
    await writeFile(join(fresh.filesDir, `${root}.json`), text);
    const userIDs = sorted.map(({ userID }) => userID);
    using journal = await FolderJournal.open(plan());
    const target = await planTargetOf(await fresh.connect());
    await journal.writePlan({ ...target, usersPerTransaction: 5, batches: [packBatch(root, text.length, userIDs)] });
    return root;
  };
  const publishAll = async (records: readonly KeyRecord[], onEvent?: (event: PublishEvent) => void) => {
    using journal = await FolderJournal.open(plan());
    return await publisher.publishAll(records, { journal, onEvent });
  };

  it("is rejected before anything is sent if its keys differ from the records", async () => {
    const root = await plant([{ ...attacker, userID: mine.userID }]);
    const error = (await failure(publishAll([mine, other]))) as Error;
    expect(error).to.be.instanceOf(ArgumentError).with.property("code", "PLAN_MISMATCH");
    for (const text of [mine.userID, attacker.keyID, mine.keyID, root, "delete the plan's folder"]) {
      expect(error.message).to.include(text);
    }
    expect(await fetchUserCount(fresh.call, fresh.contract)).to.equal(0);
  });

  it("is rejected with advice that also publishes the records if the plan has added a root", async () => {
    await publishAll([other]);
    await plant([{ ...attacker, userID: mine.userID }]);
    const error = (await failure(publishAll([mine, other]))) as Error;
    expect(error.message).to.match(/If the records are right, wait until no transaction .* is pending, or cancel it/);
    await rm(plan(), { recursive: true });
    const { published, alreadyPublished } = await publishAll([mine, other]);
    expect([published.length, alreadyPublished]).to.deep.equal([1, 1]);
  });

  it("may contain users who have no record", async () => {
    const root = await plant([mine, attacker]);
    const { published } = await publishAll([mine, other]);
    expect(published.map(({ users }) => users)).to.deep.equal([2, 1]);
    expect(published[0]?.root).to.equal(root);
  });

  it("is reported before anything is sent if some of its users have no record", async () => {
    await plant([mine, attacker]);
    const events: PublishEvent[] = [];
    await publishAll([mine, other], (event) => events.push(event));
    const names = events.map(({ event }) => event);
    expect(names.indexOf("withoutRecord")).to.be.within(1, names.indexOf("sent") - 1);
    expect(events).to.deep.include({ event: "withoutRecord", users: 1, userIDs: [attacker.userID] });
  });

  it("is rejected before anything is sent if one of its keys is invalid", async () => {
    const key = Buffer.from(attacker.pubKey, "base64");
    key.writeUInt8(key.readUInt8(50) ^ 1, 50);
    for (const bad of [
      { ...attacker, pubKey: key.toString("base64") },
      { ...attacker, keyID: other.keyID },
    ]) {
      await rm(plan(), { recursive: true, force: true });
      await plant([bad]);
      const error = (await failure(publishAll([mine]))) as Error;
      expect(error).to.be.instanceOf(VerificationError).with.property("code", "PLAN_INVALID");
      expect(error.message).to.include(attacker.userID);
      expect(await fetchUserCount(fresh.call, fresh.contract)).to.equal(0);
    }
  });

  describe("in a folder", () => {
    before(function () {
      // Windows has no POSIX modes.
      if (process.platform === "win32") this.skip();
    });

    it("has files that only their owner can read", async () => {
      const umask = process.umask(0);
      try {
        using journal = await FolderJournal.open(join(plan(), "inner"));
        await journal.recordAttempt({ nonce: 0, root: "0".repeat(64), gas: 1, fees: { gasPrice: 1n } });
        expect([await modeOf(plan()), await modeOf(join(plan(), "inner"))]).to.deep.equal(["700", "700"]);
        const names = await readdir(join(plan(), "inner"));
        expect(names).to.include("lock");
        for (const name of names) expect(await modeOf(join(plan(), "inner", name)), name).to.equal("600");
      } finally {
        process.umask(umask);
      }
    });

    it("is rejected if others can write one of its files", async () => {
      await plant([attacker]);
      await chmod(plan(), 0o755);
      for (const name of ["journal.sqlite", "journal.sqlite-wal"]) {
        const path = join(plan(), name);
        if (name === "journal.sqlite-wal") await writeFile(path, "");
        await chmod(path, 0o666);
        const error = (await failure(publishAll([mine]))) as Error;
        expect(error).to.be.instanceOf(ArgumentError).with.property("code", "FILE_PERMISSIONS");
        expect(error.message).to.include(`chmod 600 ${path}`);
        await chmod(path, 0o600);
      }
    });

    it("is rejected if others can write to its folder", async () => {
      await mkdir(plan());
      await chmod(plan(), 0o777);
      const error = (await failure(FolderJournal.open(plan()))) as Error;
      expect(error).to.be.instanceOf(ArgumentError).with.property("code", "FILE_PERMISSIONS");
      expect(error.message).to.include("chmod 700");
    });
  });
});
