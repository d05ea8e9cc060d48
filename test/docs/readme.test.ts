import { expect } from "chai";
import { HDNodeWallet } from "ethers";
import hre from "hardhat";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { StackFile } from "../../packages/operator/src/stack/stackFile.ts";

const run = promisify(execFile);
const root = hre.config.paths.root;
const readme = await readFile(join(root, "README.md"), "utf8");
const live = /```console\n([^]*?)```/.exec(readme)?.[1]?.trim().split("\n") ?? [];
const blocks = [...readme.matchAll(/```sh\n([^]*?)```/g)].map(([, block = ""]) => block.trim().split("\n"));

describe("the README", () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;
  let start: ChildProcess;

  before("npm start runs in another terminal", async function () {
    this.timeout(60_000);
    folder = await mkdtemp(join(tmpdir(), "keyroot-readme-"));
    // A stack that a developer has running is left alone.
    env = { ...process.env, KEYROOT_STACK_FILE: join(folder, "stack.json") };
    start = spawn("npm", ["start"], { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: start.stdout as NodeJS.ReadableStream })) {
      if (line.includes("stays up")) break;
    }
  });

  after(async () => {
    start.kill("SIGINT");
    await once(start, "close");
    await rm(folder, { recursive: true });
  });

  it("names two commands to try it", () => {
    expect(blocks[0]).to.deep.equal(["npm start", "npm test"]);
  });

  it("has no other commands than those that run here", () => {
    const commands = [...readme.matchAll(/^(?:npx|npm) .*$/gm)].map(([command]) => command);
    expect(commands.toSorted()).to.deep.equal([...blocks.flat(), ...live].toSorted());
  });

  it("publishes your own users with the commands that it names", async function () {
    this.timeout(60_000);
    // The files of the commands go into a folder of the test; npx finds Hardhat from the project's.
    const inFolder = (command: string) =>
      command.replace(/\b(users\.jsonl|files)\b/g, (name) => join(folder, name)).replace("npx", "npx --no-install");
    const outputs: string[] = [];
    for (const command of blocks[1] ?? []) {
      const { stdout } = await run("bash", ["-euo", "pipefail", "-c", inFolder(command)], { cwd: root, env });
      outputs.push(stdout);
    }
    const [sampled, built, checked, estimated, published, status, verified, bundled, audited, watched] = outputs;
    expect(sampled).to.equal("");
    expect(built).to.include("100 users in 1 file.");
    expect(checked).to.include("100 users");
    expect(estimated).to.include("100 users in 1 transaction, 0 already published.");
    expect(published).to.include("Published 100 users; 0 already published.");
    expect(status).to.match(/published users +125\n/);
    expect(verified).to.match(/^The public key of [a-z0-9]{32} is verified\.[^]* and a storage proof under it\n$/);
    expect(bundled).to.include(".bundle.json");
    expect(audited).to.include("Audit passed: every event, every file and every user is correct.");
    expect(watched).to.match(/^block \d+ .* 100 of 100 watched keys published, 0 alarms\n$/);
  });

  it("serves partners with the commands that it names", async function () {
    this.timeout(60_000);
    const outputs: string[] = [];
    for (const command of blocks[2] ?? [])
      outputs.push((await run("bash", ["-c", command], { cwd: root, env })).stdout);
    expect(outputs[0]).to.match(/^biz_[\w-]{22}\n/);
    expect(outputs[1]).to.equal("Published 0 keys.\n");
  });

  it("deploys and publishes on a chain that is named by --network, with the commands that it names", async function () {
    this.timeout(60_000);
    const stack = JSON.parse(await readFile(join(folder, "stack.json"), "utf8")) as StackFile;
    // In the place of the keystore, which asks a person: the environment, with the key of the chain's first account.
    const key = HDNodeWallet.fromPhrase("test test test test test test test test test test test junk").privateKey;
    const keys = { ...env, KEYROOT_RPC_URL: stack.rpcUrl, KEYROOT_OWNER_KEY: key };
    const [deploy = "", publish = ""] = live.filter((command) => command.includes("--network live"));
    const deployed = await run("bash", ["-c", `${deploy} --json`], { cwd: root, env: keys });
    const { contract } = JSON.parse(deployed.stdout) as { contract: string };
    expect(contract).not.to.equal(stack.contract);
    const filledIn = publish
      .replace("0x…", contract)
      .replace("--chain-id 1", `--chain-id ${stack.chainId}`)
      .replace("DIR", stack.merkleDir)
      .replace("https://…", stack.merkleUrl)
      .replace("users.jsonl", join(folder, "users.jsonl"));
    const { stdout } = await run("bash", ["-c", filledIn], { cwd: root, env: keys });
    expect(stdout).to.include("Published 100 users; 0 already published.");
  });

  it("links to files and headings that are there, as all pages do", async () => {
    const pages = (await readdir(join(root, "docs")))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`);
    for (const page of ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", ...pages]) {
      const text = await readFile(join(root, page), "utf8");
      for (const [, link = ""] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
        const [path = "", heading] = link.split("#");
        const target = await readFile(path === "" ? join(root, page) : join(root, dirname(page), path), "utf8");
        if (heading !== undefined) expect(headingsOf(target), `${page}: ${link}`).to.include(heading);
      }
    }
  });

  it("names every folder of the project, and no other", async () => {
    const named = [...readme.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name);
    const { stdout } = await run("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root });
    const folders = new Set(
      stdout.split("\n").flatMap((path) => {
        const [top = "", second = "", third] = path.split("/");
        if (top.startsWith(".") || second === "") return [];
        return top === "packages" ? (third === undefined ? [] : [`packages/${second}`]) : [top];
      }),
    );
    expect(named.toSorted()).to.deep.equal([...folders].toSorted());
  });
});

/** The names by which headings can be linked to. */
function headingsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
