import { expect } from "chai";
import hre from "hardhat";
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { serializeKeyRecord } from "../../packages/keyroot/src/identity/keyRecord.ts";
import { readMerkleTreeRoots } from "../../packages/keyroot/src/registry/readMerkleTreeRoots.ts";
import { freshRegistry } from "../../fixtures/freshRegistry.ts";
import { sampleRecords } from "../../fixtures/samples.ts";
import { temporaryFolder } from "../support/support.ts";

const run = promisify(execFile);
const root = hre.config.paths.root;
const page = await readFile(join(root, "docs", "publishing.md"), "utf8");

describe("docs/publishing.md", () => {
  const fresh = freshRegistry();
  const folder = temporaryFolder();

  it("has a program that publishes users", async function () {
    this.timeout(60_000);
    const records = sampleRecords(5);
    await writeFile(
      join(folder.path, "users.jsonl"),
      records.map((record) => `${serializeKeyRecord(record)}\n`).join(""),
    );
    const [, example = ""] = /```ts\n([^]*?)```/.exec(page) ?? [];
    const program = example
      .replace("http://127.0.0.1:8545", fresh.rpcUrl)
      .replace(/0x[0-9a-fA-F]{40}/, fresh.contract)
      .replace(/"(files|plan|users\.jsonl)"/g, (_, name: string) => JSON.stringify(join(folder.path, name)));
    const args = ["--input-type=module-typescript", "--eval", program];
    const { stdout } = await run(process.execPath, args, { cwd: root });

    const userIDs = records.map(({ userID }) => userID);
    const roots = new Set(await readMerkleTreeRoots(fresh.call, fresh.contract, userIDs));
    expect(await readdir(join(folder.path, "files"))).to.deep.equal(Array.from(roots, (root) => `${root}.json`));
    expect(stdout).to.match(/^[0-9a-f]{64} 5 \d+\n0 \[\]\n$/);
  });
});
