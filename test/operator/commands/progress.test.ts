import { expect } from "chai";
import { EventEmitter, once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { Progress } from "../../../packages/operator/src/commands/progress.ts";
import { temporaryFolder } from "../../support/support.ts";
import { describeOnHosts, hasTerminals, startInTerminal } from "../../support/processes/commandLine.ts";

const HIDE_CURSOR = "\u001b[?25l";
const CLEAR_LINE = "\u001b[0K";
const SHOW_CURSOR = "\u001b[?25h";

describe("progress lines", () => {
  it("are printed for each new stage, and repeated while nothing changes", async () => {
    const lines = new EventEmitter();
    const printed: string[] = [];
    const printLine = (line: string) => {
      printed.push(line);
      lines.emit("line");
    };
    // The tests' standard error may be a terminal, which shows a bar instead of lines.
    const { isTTY } = process.stderr;
    process.stderr.isTTY = false;
    using progress = new Progress({ printLine, lineEveryMs: 1 });
    process.stderr.isTTY = isTTY;
    progress.update("making files", 1, 3);
    progress.update("making files", 2, 3);
    progress.update("adding roots", 0, 3, "users", "0/1 transactions");
    const started = ["making files: 1 of 3 users", "adding roots: 0 of 3 users, 0/1 transactions"];
    expect(printed).to.deep.equal(started);
    // The timer of `Progress` does not keep the process running.
    const alive = setInterval(() => undefined, 1_000);
    await once(lines, "line");
    clearInterval(alive);
    expect(printed.at(-1)).to.equal(started[1]);
    expect(printed.length).to.be.greaterThan(2);
  });
});

describeOnHosts("the progress bar", (keyroot) => {
  const folder = temporaryFolder();
  const quote = (words: readonly string[]) => words.map((word) => `'${word}'`).join(" ");

  before(function () {
    if (!hasTerminals) this.skip();
  });

  /** Runs sample-users with standard error on a terminal. Returns the output of the terminal and the exit code. */
  const run = async (
    count: number,
    onData: (shown: string, type: (keys: string) => void) => void = () => undefined,
  ) => {
    const path = join(folder.path, "command");
    await writeFile(
      path,
      `${quote([...keyroot.words, "sample-users", "--count", `${count}`])} > '${folder.path}/users.jsonl'\n`,
    );
    const child = startInTerminal(`sh '${path}'`);
    let shown = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      shown += chunk;
      onData(shown, (keys) => child.stdin.write(keys));
    });
    const [code] = (await once(child, "close")) as [number];
    return { code, shown };
  };
  /** Returns the text after the terminal's line was last cleared. */
  const leftOn = (shown: string) => stripVTControlCharacters(shown.slice(shown.lastIndexOf(CLEAR_LINE))).trim();

  it("is not shown for work that takes less than a second", async () => {
    expect(await run(3)).to.deep.equal({ code: 0, shown: "" });
  });

  it("is removed from the terminal at Ctrl-C", async () => {
    let typed = false;
    const { code, shown } = await run(1_000_000, (soFar, type) => {
      if (typed || !soFar.includes("users")) return;
      typed = true;
      type("\u0003");
    });
    expect(code).to.equal(130);
    expect(shown).to.match(/making key pairs .* 0% \| \d+\/1000000 users/);
    expect(shown.lastIndexOf(SHOW_CURSOR)).to.be.greaterThan(shown.lastIndexOf(HIDE_CURSOR));
    expect(leftOn(shown)).to.equal("");
  });
});
