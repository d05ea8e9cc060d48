import { expect } from "chai";
import { readPage } from "../support/pages.ts";

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
