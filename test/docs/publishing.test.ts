import { expect } from "chai";
import { execFile } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../scripts/test/root.ts";
import { serializeKeyRecord } from "../../packages/keyroot/src/identity/serializeKeyRecord.ts";
import { readMerkleTreeRoots } from "../../packages/keyroot/src/registry/readMerkleTreeRoots.ts";
import { freshRegistry } from "../support/chain/freshRegistry.ts";
import { readPage } from "../support/pages.ts";
import { sampleRecords } from "../support/samples.ts";
import { temporaryFolder } from "../support/support.ts";

const run = promisify(execFile);
const page = await readPage("docs/publishing.md");
const output = await readPage("docs/json-output.md");

/** The sources that define what `publish --json` prints. */
const EVENT_SOURCES = ["publisher/publish.ts", "publisher/transactions/sendOptions.ts", "commands/publish.ts"];

/** Event names with their fields, as written in literals and literal types of the sources. */
async function readEvents(): Promise<Map<string, string[]>> {
  const events = new Map<string, string[]>();
  for (const path of EVENT_SOURCES) {
    const source = await readPage(`packages/operator/src/${path}`);
    for (const [, names = "", rest = ""] of source.matchAll(/\{ event: ("[^;,}]+")([^}]*)\}/g)) {
      const fields = Array.from(rest.matchAll(/(?:^|[;,]) *(\w+)(?=[?:;,]|\s*$)/g), ([, field = ""]) => field);
      for (const [, name = ""] of names.matchAll(/"(\w+)"/g)) events.set(name, fields);
    }
  }
  return events;
}

describe("docs/json-output.md", () => {
  it("lists every event of publish --json with its fields", async () => {
    const rows = Array.from(
      output.matchAll(/^\| (`\w+`(?:, `\w+`)*) +\| ([^|]*`[^|]*)\|/gm),
      ([, names = "", fields]) => {
        return Array.from(names.matchAll(/\w+/g), ([name]) => [name, fields ?? ""] as const);
      },
    );
    const documented = new Map(rows.flat());
    const events = await readEvents();
    expect(events).to.include.keys("stage", "sent", "replaced", "published", "interrupted");
    for (const [name, fields] of events) {
      expect(documented.has(name), name).to.equal(true);
      for (const field of fields) expect(documented.get(name), name).to.contain(`\`${field}\``);
    }
  });
});

describe("the program in docs/publishing.md", () => {
  const fresh = freshRegistry();
  const folder = temporaryFolder();

  it("publishes users", async () => {
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
    const { stdout } = await run(process.execPath, args, { cwd: ROOT });

    const userIDs = records.map(({ userID }) => userID);
    const roots = new Set(await readMerkleTreeRoots(fresh.call, fresh.contract, userIDs));
    expect(await readdir(join(folder.path, "files"))).to.deep.equal(Array.from(roots, (root) => `${root}.json`));
    expect(stdout).to.match(/^[0-9a-f]{64} 5 \d+\n0 \[\]\n$/);
  });
});
