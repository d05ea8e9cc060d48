import { expect } from "chai";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../../scripts/test/root.ts";

/** Every character up to U+FFFF, except surrogates and line breaks, and a sample of those above. */
const CHARACTERS = [
  ...Array.from({ length: 0xd800 }, (_, i) => i),
  ...Array.from({ length: 0x2000 }, (_, i) => 0xe000 + i),
  ...[0x1bca0, 0x1d173, 0x1f600, 0xe0001, 0xe007f, 0xf0000, 0x10ffff],
].filter((code) => code !== 9 && code !== 10);
/** Control, format, private and unassigned characters, and separators of lines: a terminal may obey or hide them. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** The files that write to a terminal without `output.ts`, and what they write. */
const WRITERS: Readonly<Record<string, string>> = {
  "packages/operator/src/commands/output.ts": "all output of commands",
  "packages/operator/src/cli.ts": "a constant message for old versions of Node, before anything else is loaded",
  "packages/operator/src/hardhat/refusals.ts": "constant messages",
  "packages/operator/src/commands/makeRecords.ts": "records, whose fields are validated",
  "packages/operator/src/commands/sampleUsers.ts": "records of random users",
  "packages/operator/src/commands/publish.ts": "plans, which contain only hashes, numbers and user ids",
};

describe("the output of commands", () => {
  it("contains no character that a terminal obeys or hides, as text, as an error and as JSON", async () => {
    const script = `
      import { print, printError, printFailure, printJson, printOutcome } from "./packages/operator/src/commands/output.ts";
      const text = String.fromCodePoint(...${JSON.stringify(CHARACTERS.filter((code) => UNSAFE.test(String.fromCodePoint(code))))});
      const error = new Error(text);
      print(text);
      printError(text);
      printJson({ [text]: text });
      printOutcome({ json: { text }, text }, false);
      printOutcome({ json: { text }, text }, true);
      printFailure(error, { json: false, showStackTraces: true });
      printFailure(error, { json: true, showStackTraces: true });`;
    const run = promisify(execFile)(process.execPath, ["--input-type=module-typescript", "--eval", script], {
      cwd: ROOT,
      maxBuffer: 2 ** 26,
    });
    const { stdout, stderr } = await run;
    for (const [name, output] of Object.entries({ stdout, stderr })) {
      const unsafe = Array.from(output).filter((character) => character !== "\n" && UNSAFE.test(character));
      expect(
        unsafe.map((character) => character.codePointAt(0)?.toString(16)),
        name,
      ).to.deep.equal([]);
    }
    expect(stdout).to.contain("\\u009b").and.to.contain("\\u202e");
  });

  it("is written only by the file that escapes it, except for these", () => {
    const files = ["operator", "service"].flatMap((name) => {
      const names = readdirSync(join(ROOT, "packages", name, "src"), { recursive: true, encoding: "utf8" });
      return names.filter((path) => path.endsWith(".ts")).map((path) => `packages/${name}/src/${path}`);
    });
    // Examples in comments may print.
    const writes = /^(?!\s*(?:\*|\/\/)).*(?:std(?:out|err)\.write|console\.\w+\()/m;
    const writers = files.filter((path) => writes.test(readFileSync(join(ROOT, path), "utf8")));
    expect(writers).to.have.members(Object.keys(WRITERS));
  });
});
