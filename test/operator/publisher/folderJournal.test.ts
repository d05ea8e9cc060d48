import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ArgumentError } from "../../../packages/keyroot/src/errors.ts";
import { type Plan, serializePlan } from "../../../packages/operator/src/publisher/plan/plan.ts";
import { type Attempt, FolderJournal } from "../../../packages/operator/src/publisher/journal/folderJournal.ts";
import { sampleUserID, sha256 } from "../../../fixtures/samples.ts";
import { failure, temporaryFolder } from "../../support/support.ts";

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

describe("FolderJournal", () => {
  const folder = temporaryFolder();
  const dir = () => join(folder.path, "plans", "one");

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

  it("writes the plan as its text is, and nothing beside it", async () => {
    using journal = await FolderJournal.open(dir());
    await journal.writePlan(plan);
    expect(await readFile(join(dir(), "plan.jsonl"), "utf8")).to.equal([...serializePlan(plan)].join(""));
    expect((await readdir(dir())).toSorted()).to.deep.equal(["lock", "plan.jsonl"]);
  });

  it("forgets what was noted for an earlier plan when a new one is written", async () => {
    using journal = await FolderJournal.open(dir());
    await journal.recordAttempt(attempt);
    await journal.writePlan(plan);
    expect(journal.attempts()).to.be.empty;
  });

  it("leaves out an attempt that a crash cut off, and writes the next one after it whole", async () => {
    {
      using journal = await FolderJournal.open(dir());
      await journal.recordAttempt(attempt);
    }
    await appendFile(join(dir(), "sent.jsonl"), '{"nonce":8,"ro');
    {
      using journal = await FolderJournal.open(dir());
      expect(journal.attempts()).to.deep.equal([attempt]);
      await journal.recordAttempt(legacy);
    }
    using journal = await FolderJournal.open(dir());
    expect(journal.attempts()).to.deep.equal([attempt, legacy]);
  });

  it("refuses a damaged plan and damaged attempts, and gives the folder free again", async () => {
    {
      using journal = await FolderJournal.open(dir());
      await writeFile(join(dir(), "plan.jsonl"), "nonsense\n");
      expect(await failure(journal.readPlan())).to.have.property("code", "JSON_FORBIDDEN_TOKEN");
    }
    for (const bad of ["nonsense\n", "{}\n", '{"nonce":1,"root":"x","gas":1,"fees":{}}\n']) {
      await writeFile(join(dir(), "sent.jsonl"), bad);
      expect(await failure(FolderJournal.open(dir()))).to.have.property("code", "PLAN_INVALID");
    }
    await writeFile(join(dir(), "sent.jsonl"), "");
    using journal = await FolderJournal.open(dir());
    expect(journal.attempts()).to.be.empty;
  });

  it("is rid of what a publisher left that was killed while it wrote a plan, and of nothing else", async () => {
    const program = `
      import { readdirSync } from "node:fs";
      import { packBatch } from ${JSON.stringify(import.meta.resolve("../../../packages/operator/src/publisher/plan/plan.ts"))};
      import { FolderJournal } from ${JSON.stringify(import.meta.resolve("../../../packages/operator/src/publisher/journal/folderJournal.ts"))};
      const [dir, userID] = process.argv.slice(1);
      const journal = await FolderJournal.open(dir);
      journal.writePlan({ batches: Array.from({ length: 10_000 }, () => packBatch("0".repeat(64), 1, [userID])) });
      const isDraft = (name) => name.startsWith(".plan.jsonl.");
      const look = () => (readdirSync(dir).some(isDraft) ? process.kill(process.pid, "SIGKILL") : setImmediate(look));
      look();`;
    const args = ["--input-type=module", "-e", program, dir(), sampleUserID(1)];
    const child = spawn(process.execPath, args, { stdio: "inherit" });
    expect(await once(child, "exit")).to.deep.equal([null, "SIGKILL"]);
    expect((await readdir(dir())).filter((name) => name.startsWith(".plan.jsonl."))).to.have.lengthOf(1);
    const others = [".plan.jsonl.old", ".notes.txt.00000000-0000-4000-8000-000000000000"];
    for (const name of others) await writeFile(join(dir(), name), "");

    using journal = await FolderJournal.open(dir());
    expect(await journal.readPlan()).to.equal(undefined);
    expect((await readdir(dir())).toSorted()).to.deep.equal([...others, "lock"].toSorted());
  });

  it("says when it cannot be written", async () => {
    await writeFile(join(folder.path, "file"), "");
    expect(await failure(FolderJournal.open(join(folder.path, "file")))).to.have.property("code", "FILE_UNWRITABLE");
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
        const { FolderJournal } = await import(${JSON.stringify(import.meta.resolve("../../../packages/operator/src/publisher/journal/folderJournal.ts"))});
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
