import { expect } from "chai";
import { once } from "node:events";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Attempt, FolderJournal, type Plan } from "@keyroot/operator/publisher";
import { VerificationError } from "keyroot/internal/errors";
import { attemptsFor } from "../../../../packages/operator/src/publisher/journal/journal.ts";
import { killAtLine, startProgram } from "../../../support/processes/childProcess.ts";
import { sampleUserID, sha256 } from "../../../support/samples.ts";
import { failure, modeOf, temporaryFolder } from "../../../support/support.ts";

const plan: Plan = {
  chainId: 1,
  genesisHash: `0x${"1".repeat(64)}`,
  contract: `0x${"2".repeat(40)}`,
  owner: `0x${"3".repeat(40)}`,
  usersPerTransaction: 1,
  batches: [{ root: sha256("root"), fileBytes: 1, users: 1, userIDs: [sampleUserID(1)] }],
};
const legacy: Attempt = { nonce: 8, root: sha256("root"), gas: 60_000, fees: { gasPrice: 10n ** 9n } };
const attempt: Attempt = {
  ...legacy,
  nonce: 7,
  fees: { maxFeePerGas: 2n ** 70n, maxPriorityFeePerGas: 1n },
  sender: `0x${"3".repeat(40)}`,
};
const resolved = (path: string) =>
  JSON.stringify(import.meta.resolve(`../../../../packages/operator/src/publisher/${path}`));

describe("FolderJournal", () => {
  const folder = temporaryFolder();
  const dir = () => join(folder.path, "plans", "one");
  const filePath = () => join(dir(), "journal.sqlite");
  const change = (sql: string, ...values: string[]) => {
    const database = new DatabaseSync(filePath());
    database.prepare(sql).run(...values);
    database.close();
  };

  it("deletes a finished plan but keeps its attempts", async () => {
    {
      using journal = await FolderJournal.open(dir());
      expect(await journal.readPlan()).to.equal(undefined);
      await journal.writePlan(plan);
      await journal.recordAttempt(attempt);
      await journal.recordAttempt(legacy);
    }
    {
      using journal = await FolderJournal.open(dir());
      expect(await journal.readPlan()).to.deep.include(plan);
      expect(journal.attempts()).to.deep.equal([attempt, legacy]);
      await journal.finish();
    }
    using journal = await FolderJournal.open(dir());
    expect(await journal.readPlan()).to.equal(undefined);
    expect(journal.attempts()).to.deep.equal([attempt, legacy]);
  });

  it("returns the attempts of one registry", async () => {
    const own = { ...attempt, hash: `0x${sha256("hash")}`, registry: "1-00000000-0xaa" };
    {
      using journal = await FolderJournal.open(dir());
      for (const one of [own, { ...own, registry: "2-00000000-0xaa" }]) await journal.recordAttempt(one);
    }
    using journal = await FolderJournal.open(dir());
    expect(attemptsFor(journal, own.registry).attempts()).to.deep.equal([own]);
  });

  it("keeps one private file, which shrinks when the plan is finished", async () => {
    const userIDs = Array.from({ length: 5_000 }, (_, i) => sampleUserID(i)).toSorted();
    const large = { ...plan, usersPerTransaction: 5_000, batches: [{ ...plan.batches[0], userIDs, users: 5_000 }] };
    {
      using journal = await FolderJournal.open(dir());
      await journal.writePlan(large as Plan);
      expect(await journal.readPlan()).to.deep.include({ usersPerTransaction: 5_000 });
    }
    expect((await readdir(dir())).toSorted()).to.deep.equal(["journal.sqlite", "lock"]);
    expect([await modeOf(filePath()), await modeOf(dir())]).to.deep.equal(["600", "700"]);
    expect((await stat(filePath())).size).to.be.greaterThan(150_000);
    {
      using journal = await FolderJournal.open(dir());
      await journal.finish();
    }
    expect((await stat(filePath())).size).to.be.lessThan(50_000);
  });

  it("keeps the attempts of a plan that is replaced", async () => {
    {
      using journal = await FolderJournal.open(dir());
      await journal.writePlan(plan);
      await journal.recordAttempt(attempt);
      await journal.writePlan({ ...plan, chainId: 2 });
    }
    using journal = await FolderJournal.open(dir());
    expect(await journal.readPlan()).to.deep.include({ ...plan, chainId: 2 });
    expect(journal.attempts()).to.deep.equal([attempt]);
  });

  it("keeps every attempt that was recorded before kill -9", async () => {
    const program = `
      import { FolderJournal } from ${resolved("journal/folderJournal.ts")};
      const journal = await FolderJournal.open(process.argv[1]);
      for (let nonce = journal.attempts().length; ; nonce++) {
        await journal.recordAttempt({ nonce, root: "${sha256("root")}", gas: 1, fees: { gasPrice: 1n } });
        console.log(nonce);
      }`;
    {
      using journal = await FolderJournal.open(dir());
      await journal.writePlan(plan);
    }
    let last = 0;
    for (let round = 1; round <= 3; round++) {
      await killAtLine(program, dir(), (line) => {
        last = Math.max(last, Number(line));
        return last >= 40 * round;
      });
      using journal = await FolderJournal.open(dir());
      expect(journal.attempts().length).to.be.greaterThan(last);
      expect(journal.attempts().map(({ nonce }) => nonce)).to.deep.equal([...journal.attempts().keys()]);
      expect(await journal.readPlan()).to.deep.include(plan);
    }
  });

  it("keeps the earlier plan if kill -9 interrupts the writing of a new plan", async () => {
    const program = `
      import { statSync } from "node:fs";
      import { packBatch } from ${resolved("plan/plan.ts")};
      import { FolderJournal } from ${resolved("journal/folderJournal.ts")};
      const [dir, userID] = process.argv.slice(1);
      const journal = await FolderJournal.open(dir);
      const batch = packBatch("0".repeat(64), 1, new Array(100).fill(userID));
      // No timer runs while SQLite writes. Instead, the plan itself kills the process when half of it is written.
      const killer = { ...batch, get userIDs() {
        if (statSync(dir + "/journal.sqlite-wal").size > 10_000_000) process.kill(process.pid, "SIGKILL");
      } };
      const half = new Array(5_000).fill(batch);
      await journal.writePlan({ batches: [...half, killer, ...half], chainId: 1 });`;
    {
      using journal = await FolderJournal.open(dir());
      await journal.writePlan(plan);
      await journal.recordAttempt(attempt);
    }
    const child = startProgram(program, dir(), sampleUserID(1));
    expect(await once(child, "exit")).to.deep.equal([null, "SIGKILL"]);
    {
      using journal = await FolderJournal.open(dir());
      expect(await journal.readPlan()).to.deep.include(plan);
      expect(journal.attempts()).to.deep.equal([attempt]);
    }
    expect((await readdir(dir())).toSorted()).to.deep.equal(["journal.sqlite", "lock"]);
  });

  describe("with damaged content", () => {
    const refused = async (reason: string) => {
      const error = await failure(FolderJournal.open(dir()));
      expect(error).to.have.property("code", "PLAN_INVALID");
      expect((error as Error).message)
        .to.include(reason)
        .and.include(`${dir()} cannot be used`)
        .and.include("delete the folder");
    };
    beforeEach(async () => {
      using journal = await FolderJournal.open(dir());
      await journal.writePlan(plan);
      await journal.recordAttempt(attempt);
    });

    it("rejects a file that is not a journal", async () => {
      await writeFile(filePath(), "nonsense");
      await refused("not a database");
      await rm(filePath());
      using journal = await FolderJournal.open(dir());
      expect(await journal.readPlan()).to.equal(undefined);
    });

    it("rejects a plan with a missing line", async () => {
      change("DELETE FROM plan WHERE line = 2");
      using journal = await FolderJournal.open(dir());
      expect(await failure(journal.readPlan())).to.have.property("code", "PLAN_INVALID");
    });

    it("rejects invalid text", async () => {
      for (const text of ["nonsense", "{}", '{"nonce":1,"root":"x","gas":1,"fees":{}}']) {
        change("UPDATE attempts SET text = ?", text);
        expect(await failure(FolderJournal.open(dir()))).to.have.property("code", "PLAN_INVALID");
      }
      change("DELETE FROM attempts");
      change("UPDATE plan SET text = 'nonsense'");
      using journal = await FolderJournal.open(dir());
      expect(await failure(journal.readPlan())).to.have.property("code", "JSON_FORBIDDEN_TOKEN");
    });
  });

  it("reports a folder that cannot be written", async () => {
    await writeFile(join(folder.path, "file"), "");
    expect(await failure(FolderJournal.open(join(folder.path, "file")))).to.have.property("code", "FILE_UNWRITABLE");
  });

  it("rejects an unfinished plan of version 0.1.0, and explains how to finish it", async () => {
    await mkdir(dir(), { recursive: true });
    for (const name of ["plan.jsonl", "sent.jsonl"]) {
      await writeFile(join(dir(), name), "{}\n");
      const error = await failure(FolderJournal.open(dir()));
      expect(error).to.be.an.instanceof(VerificationError).with.property("code", "PLAN_INVALID");
      expect((error as Error).message)
        .to.include(`${dir()} has an unfinished plan of version 0.1.0 (${name})`)
        .and.include("Finish it with version 0.1.0");
      expect(await readFile(join(dir(), name), "utf8")).to.equal("{}\n");
      await rm(join(dir(), name));
    }
    using journal = await FolderJournal.open(dir());
    expect(await journal.readPlan()).to.equal(undefined);
  });

  describe("with two publishers", () => {
    it("rejects the second publisher", async () => {
      using first = await FolderJournal.open(dir());
      expect(await failure(FolderJournal.open(dir()))).to.include({ name: "ArgumentError", code: "PUBLISHER_RUNNING" });
      await first.writePlan(plan);
    });
  });
});
