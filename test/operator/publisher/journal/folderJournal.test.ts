import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { ArgumentError, VerificationError } from "../../../../packages/keyroot/src/errors.ts";
import { checksumOf } from "../../../../packages/operator/src/disk/stateDatabase.ts";
import { parsePlan, type Plan, serializePlan } from "../../../../packages/operator/src/publisher/plan/plan.ts";
import { FolderJournal } from "../../../../packages/operator/src/publisher/journal/folderJournal.ts";
import { type Attempt, parseAttempt } from "../../../../packages/operator/src/publisher/journal/journal.ts";
import { sampleUserID, sha256 } from "../../../../fixtures/samples.ts";
import { failure, temporaryFolder } from "../../../support/support.ts";

const plan: Plan = {
  chainId: 1,
  genesisHash: `0x${"1".repeat(64)}`,
  contract: `0x${"2".repeat(40)}`,
  owner: `0x${"3".repeat(40)}`,
  usersPerTransaction: 1,
  batches: [{ root: sha256("root"), fileBytes: 1, users: 1, userIDs: [sampleUserID(1)] }],
};
const attempt: Attempt = {
  nonce: 7,
  root: sha256("root"),
  gas: 60_000,
  fees: { maxFeePerGas: 2n ** 70n, maxPriorityFeePerGas: 1n },
};
const legacy: Attempt = { ...attempt, nonce: 8, fees: { gasPrice: 10n ** 9n } };
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

  it("keeps plan and attempts from one run to the next, until the plan is finished", async () => {
    {
      using journal = await FolderJournal.open(dir());
      expect(await journal.readPlan()).to.equal(undefined);
      await journal.writePlan(plan);
      await journal.recordAttempt(attempt);
      await journal.recordAttempt(legacy);
    }
    {
      using journal = await FolderJournal.open(dir());
      expect(await journal.readPlan()).to.deep.equal(plan);
      expect(journal.attempts()).to.deep.equal([attempt, legacy]);
      await journal.finish();
      expect(journal.attempts()).to.be.empty;
    }
    using journal = await FolderJournal.open(dir());
    expect(await journal.readPlan()).to.equal(undefined);
    expect(journal.attempts()).to.be.empty;
  });

  it("keeps one file beside its lock, which only its owner can read, and which shrinks when the plan is finished", async () => {
    const userIDs = Array.from({ length: 5_000 }, (_, i) => sampleUserID(i)).toSorted();
    const large = { ...plan, usersPerTransaction: 5_000, batches: [{ ...plan.batches[0], userIDs, users: 5_000 }] };
    {
      using journal = await FolderJournal.open(dir());
      await journal.writePlan(large as Plan);
      expect(await journal.readPlan()).to.deep.include({ usersPerTransaction: 5_000 });
    }
    expect((await readdir(dir())).toSorted()).to.deep.equal(["journal.sqlite", "lock"]);
    expect((await stat(filePath())).mode & 0o777).to.equal(0o600);
    expect((await stat(dir())).mode & 0o777).to.equal(0o700);
    expect((await stat(filePath())).size).to.be.greaterThan(150_000);
    {
      using journal = await FolderJournal.open(dir());
      await journal.finish();
    }
    expect((await stat(filePath())).size).to.be.lessThan(50_000);
  });

  it("deletes the attempts of an earlier plan when a new one is written", async () => {
    {
      using journal = await FolderJournal.open(dir());
      await journal.writePlan(plan);
      await journal.recordAttempt(attempt);
      await journal.writePlan({ ...plan, chainId: 2 });
      expect(journal.attempts()).to.be.empty;
    }
    using journal = await FolderJournal.open(dir());
    expect(await journal.readPlan()).to.deep.equal({ ...plan, chainId: 2 });
    expect(journal.attempts()).to.be.empty;
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
      const child = spawn(process.execPath, ["--input-type=module", "-e", program, dir()], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      for await (const line of createInterface({ input: child.stdout })) {
        last = Math.max(last, Number(line));
        if (last >= 40 * round) child.kill("SIGKILL");
      }
      if (child.signalCode === null) await once(child, "exit");
      using journal = await FolderJournal.open(dir());
      expect(journal.attempts().length).to.be.greaterThan(last);
      expect(journal.attempts().map(({ nonce }) => nonce)).to.deep.equal([...journal.attempts().keys()]);
      expect(await journal.readPlan()).to.deep.equal(plan);
    }
  });

  it("has the earlier plan with its attempts, or the new one, after kill -9 while a plan is written", async () => {
    const program = `
      import { statSync } from "node:fs";
      import { packBatch } from ${resolved("plan/plan.ts")};
      import { FolderJournal } from ${resolved("journal/folderJournal.ts")};
      const [dir, userID] = process.argv.slice(1);
      const journal = await FolderJournal.open(dir);
      const batch = packBatch("0".repeat(64), 1, new Array(100).fill(userID));
      // No timer runs while SQLite writes, so the plan itself kills the process once half of it is written.
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
    const args = ["--input-type=module", "-e", program, dir(), sampleUserID(1)];
    const child = spawn(process.execPath, args, { stdio: "inherit" });
    expect(await once(child, "exit")).to.deep.equal([null, "SIGKILL"]);
    {
      using journal = await FolderJournal.open(dir());
      expect(await journal.readPlan()).to.deep.equal(plan);
      expect(journal.attempts()).to.deep.equal([attempt]);
    }
    expect((await readdir(dir())).toSorted()).to.deep.equal(["journal.sqlite", "lock"]);
  });

  describe("refuses", () => {
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

    it("a file that is not a journal, and unlocks the folder again", async () => {
      await writeFile(filePath(), "nonsense");
      await refused("not a database");
      await rm(filePath());
      using journal = await FolderJournal.open(dir());
      expect(await journal.readPlan()).to.equal(undefined);
    });

    it("a huge file, without reading it", async () => {
      // Sparse: it takes no space.
      await truncate(filePath(), 2 ** 33);
      await refused("has 8589934592 bytes");
    });

    it("a changed attempt", async () => {
      change("UPDATE attempts SET text = replace(text, '7', '9')");
      await refused("attempts was changed");
    });

    it("a changed plan", async () => {
      change("UPDATE plan SET text = replace(text, '\"chainId\":1', '\"chainId\":2')");
      using journal = await FolderJournal.open(dir());
      expect(await failure(journal.readPlan())).to.have.property("code", "PLAN_INVALID");
    });

    it("a plan with valid checksums that lacks a line", async () => {
      change("DELETE FROM plan WHERE line = 2");
      using journal = await FolderJournal.open(dir());
      expect(await failure(journal.readPlan())).to.have.property("code", "PLAN_INVALID");
    });

    it("nonsense with valid checksums", async () => {
      for (const text of ["nonsense", "{}", '{"nonce":1,"root":"x","gas":1,"fees":{}}']) {
        change("UPDATE attempts SET text = ?, checksum = ?", text, checksumOf([text]));
        expect(await failure(FolderJournal.open(dir()))).to.have.property("code", "PLAN_INVALID");
      }
      change("DELETE FROM attempts");
      change("UPDATE plan SET text = 'nonsense', checksum = ?", checksumOf(["nonsense"]));
      using journal = await FolderJournal.open(dir());
      expect(await failure(journal.readPlan())).to.have.property("code", "JSON_FORBIDDEN_TOKEN");
    });
  });

  it("reports a folder that cannot be written", async () => {
    await writeFile(join(folder.path, "file"), "");
    expect(await failure(FolderJournal.open(join(folder.path, "file")))).to.have.property("code", "FILE_UNWRITABLE");
  });

  describe("of a folder of version 0.1.0", () => {
    const OLD = join(import.meta.dirname, "../../../support/state-0.1.0");
    const [PLAN, ATTEMPTS] = ["plan.jsonl", "sent.jsonl"];
    let oldPlan: Plan;
    let oldAttempts: Attempt[];
    before(async () => {
      oldPlan = parsePlan(await readFile(join(OLD, PLAN)));
      oldAttempts = (await readFile(join(OLD, ATTEMPTS), "utf8")).trim().split("\n").map(parseAttempt);
      expect([oldPlan.batches.length, oldAttempts.length]).to.deep.equal([4, 3]);
    });
    beforeEach(async () => {
      await mkdir(dir(), { recursive: true });
      for (const name of [PLAN, ATTEMPTS]) await copyFile(join(OLD, name), join(dir(), name));
    });
    const expectImported = async () => {
      using journal = await FolderJournal.open(dir());
      const plan = await journal.readPlan();
      expect(plan && [...serializePlan(plan)]).to.deep.equal([...serializePlan(oldPlan)]);
      expect(journal.attempts()).to.deep.equal(oldAttempts);
    };

    it("imports the plan and its attempts, and removes the old files", async () => {
      await expectImported();
      expect((await readdir(dir())).toSorted()).to.deep.equal(["journal.sqlite", "lock"]);
      await expectImported();
    });

    it("finishes an import that was interrupted at any step", async () => {
      await expectImported();
      // Before the old files were removed; after the first one was.
      for (const names of [[PLAN, ATTEMPTS], [PLAN]]) {
        for (const name of names) await copyFile(join(OLD, name), join(dir(), name));
        await expectImported();
        expect((await readdir(dir())).toSorted()).to.deep.equal(["journal.sqlite", "lock"]);
      }
    });

    it("refuses a second plan beside an unfinished one, and removes neither", async () => {
      await mkdir(join(folder.path, "other"));
      for (const name of [PLAN, ATTEMPTS]) await rm(join(dir(), name));
      {
        using journal = await FolderJournal.open(dir());
        await journal.writePlan(plan);
      }
      await copyFile(join(OLD, PLAN), join(dir(), PLAN));
      const error = await failure(FolderJournal.open(dir()));
      expect(error).to.have.property("code", "PLAN_INVALID");
      expect((error as Error).message)
        .to.include("two unfinished plans")
        .and.include("--plan FOLDER");
      expect((await readdir(dir())).toSorted()).to.deep.equal(["journal.sqlite", "lock", PLAN]);
      await rm(join(dir(), PLAN));
      using journal = await FolderJournal.open(dir());
      expect(await journal.readPlan()).to.deep.equal(plan);
    });

    it("leaves out an attempt that a crash cut off", async () => {
      await appendFile(join(dir(), ATTEMPTS), '{"nonce":8,"ro');
      await expectImported();
    });

    it("refuses a damaged plan and damaged attempts with the file's path and a remedy, removes nothing, and unlocks the folder again", async () => {
      const expectRefused = async (name: string, problem: string, remedy: string) => {
        const error = await failure(FolderJournal.open(dir()));
        expect(error).to.be.an.instanceof(VerificationError).with.property("code", "PLAN_INVALID");
        const { message } = error as Error;
        expect(message)
          .to.include(`${join(dir(), name)}, of version 0.1.0, is damaged: ${problem}`)
          .and.include(remedy);
      };
      const attempts = await readFile(join(dir(), ATTEMPTS));
      for (const bad of ["nonsense\n", "{}\n", '{"nonce":1,"root":"x","gas":1,"fees":{}}\n']) {
        await writeFile(join(dir(), ATTEMPTS), bad);
        await expectRefused(ATTEMPTS, "A recorded transaction", "delete the plan and publish again");
      }
      await writeFile(join(dir(), ATTEMPTS), attempts);
      const text = await readFile(join(dir(), PLAN));
      for (const [bad, problem] of [
        ["nonsense\n", "The plan"],
        ["{}\n", "The plan's head"],
        [text.subarray(0, -1), "The plan is incomplete"],
      ] as const) {
        await writeFile(join(dir(), PLAN), bad);
        await expectRefused(PLAN, problem, "move plan.jsonl and sent.jsonl away and publish again");
      }
      await writeFile(join(dir(), PLAN), text);
      await expectImported();
    });

    it("removes the draft of a plan that a killed publisher left, and no other file", async () => {
      const draft = ".plan.jsonl.00000000-0000-4000-8000-000000000000";
      const others = [".plan.jsonl.old", ".notes.txt.00000000-0000-4000-8000-000000000000"];
      for (const name of [draft, ...others]) await writeFile(join(dir(), name), "");
      await expectImported();
      expect((await readdir(dir())).toSorted()).to.deep.equal([...others, "journal.sqlite", "lock"].toSorted());
    });
  });

  describe("two publishers", () => {
    it("exclude each other", async () => {
      using first = await FolderJournal.open(dir());
      const error = await failure(FolderJournal.open(dir()));
      expect(error).to.be.an.instanceof(ArgumentError).with.property("code", "PUBLISHER_RUNNING");
      await first.writePlan(plan);
    });

    it("exclude each other across processes, until the first has ended, even by kill -9", async () => {
      const program = `
        const { FolderJournal } = await import(${resolved("journal/folderJournal.ts")});
        const journal = await FolderJournal.open(process.argv[1]);
        console.log("open");
        setInterval(() => journal, 1000);`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", program, dir()], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(child.stdout, "data");
      expect(await failure(FolderJournal.open(dir()))).to.have.property("code", "PUBLISHER_RUNNING");
      child.kill("SIGKILL");
      await once(child, "exit");
      using journal = await FolderJournal.open(dir());
      expect(await journal.readPlan()).to.equal(undefined);
    });
  });
});
