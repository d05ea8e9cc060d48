import { expect } from "chai";
import { execFile } from "node:child_process";
import { cp, mkdir, readdir, realpath, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../scripts/test/root.ts";
import { temporaryFolder } from "../support/support.ts";

const run = promisify(execFile);
const RECORD = "scripts/test/proofRecord.json";

describe(".ci/run", () => {
  const folder = temporaryFolder();

  /** Runs the script in a small repository whose tests print their folder and arguments, and fail. */
  async function runIn(name: string) {
    const root = join(await realpath(folder.path), name);
    const temporary = join(root, "..", "temporary");
    await mkdir(join(root, dirname(RECORD)), { recursive: true });
    await mkdir(temporary);
    await cp(join(ROOT, ".ci"), join(root, ".ci"), { recursive: true });
    await writeFile(join(root, RECORD), "old");
    const script = `echo new > ${RECORD}; pwd; echo`;
    await writeFile(join(root, "tests.sh"), `${script} "$@"; echo "0 passed, 1 failed"; exit 1`);
    await writeFile(join(root, "package.json"), JSON.stringify({ scripts: { "test:all": "sh tests.sh" } }));
    const git = (...words: string[]) =>
      run("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...words], { cwd: root });
    await git("init", "--quiet");
    await git("add", "--all");
    await git("commit", "--quiet", "--message", "a commit");
    // The script installs nothing here, because it finds its programs.
    const env = { ...process.env, TMPDIR: temporary, CHROMIUM: process.execPath };
    const ended: unknown = await run("bash", [".ci/run", "--everything"], { cwd: root, env }).catch(
      (error: unknown) => error,
    );
    const { code, stdout } = ended as { code: number; stdout: string };
    const lines = stdout.trimEnd().split("\n");
    const tested = lines.at(-3) ?? "";
    return { root, temporary, code, lines, tested, record: await run("cat", [join(root, RECORD)]) };
  }

  it("tests a folder named keyroot in place", async () => {
    const { root, code, lines, tested } = await runIn("keyroot");
    expect([code, tested, ...lines.slice(-2)]).to.deep.equal([1, root, "--everything", "0 passed, 1 failed"]);
  });

  it("tests another folder in a clone named keyroot, which it removes, and keeps the recorded proof", async () => {
    const { root, temporary, code, lines, tested, record } = await runIn("elsewhere");
    expect([code, ...lines.slice(-2)]).to.deep.equal([1, "--everything", "0 passed, 1 failed"]);
    expect(basename(tested)).to.equal("keyroot");
    expect(tested).not.to.equal(root);
    expect((await readdir(temporary)).filter((name) => name.startsWith("tmp."))).to.deep.equal([]);
    expect(record.stdout).to.equal("new\n");
  });

  it("names the versions of Node and npm, and the tested commit", async () => {
    const { lines } = await runIn("keyroot");
    const { stdout } = await run("npm", ["--version"]);
    expect(lines[0]).to.match(/^Testing [0-9a-f]{7,} in /);
    expect(lines[0]).to.include(`Node ${process.version} and npm ${stdout.trim()}.`);
  });
});
