import { expect } from "chai";
import hre from "hardhat";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ATTACKS } from "../../demo/attacks/attacks.ts";
import { PartnerClient } from "../../packages/client/src/partner.ts";
import type { StackFile } from "../../packages/operator/src/commands/stackFile.ts";
import {
  environment,
  type Running,
  signalGroup,
  stackFoldersIn,
  untilGroupIsGone,
} from "../support/processes/commandLine.ts";
import { blocksOf, readPage } from "../support/pages.ts";
import { hold, never, portOf } from "../support/support.ts";

const run = promisify(execFile);
const root = hre.config.paths.root;
const readme = await readPage("README.md");
const programs = blocksOf(readme, "js");
const blocks = blocksOf(readme, "sh").map((text) => text.trim().split("\n"));

describe("README.md", () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;
  let start: Running;
  let printed = "";

  before("npm start runs in another terminal", async () => {
    folder = await mkdtemp(join(tmpdir(), "keyroot-readme-"));
    // The test has its own stack file, so it does not affect a developer's running stack.
    env = environment({ KEYROOT_STACK_FILE: join(folder, "stack.json") });
    const options = { cwd: root, env: { ...env, TMPDIR: folder }, detached: true } as const;
    start = spawn("npm", ["start"], options);
    start.stderr.on("data", (text: Buffer) => (printed += String(text)));
    for await (const text of start.stdout.iterator({ destroyOnReturn: false })) {
      printed += String(text);
      if (printed.includes("stays up")) break;
    }
    if (start.exitCode !== null) throw new Error(`npm start ended:\n${printed}`);
    start.stdout.on("data", (text: Buffer) => (printed += String(text)));
  });

  after(async () => {
    signalGroup(start, "SIGKILL");
    await rm(folder, { recursive: true });
  });

  const readStackFile = async () => JSON.parse(await readFile(join(folder, "stack.json"), "utf8")) as StackFile;
  /** The text after a word that `npm start` printed at the start of a line. */
  const printedAfter = (word: string) => new RegExp(`^ +${word} +(\\S+)`, "m").exec(printed)?.[1] ?? "";

  it("counts the attacks of the demo", () => {
    const [, count] = /of (\d+) simulated attacks/.exec(readme.replace(/\s+/g, " ")) ?? [];
    expect(Number(count)).to.equal(ATTACKS.length);
  });

  it("begins with npm start and npm test", () => {
    expect(blocks.slice(0, 2)).to.deep.equal([["npm start"], ["npm test"]]);
  });

  it("has at most 750 words and 25 links", () => {
    // Like `wc -w`, this counts every text between spaces, including code, tables and punctuation.
    expect(readme.trim().split(/\s+/).length).to.be.at.most(750);
    expect([...readme.matchAll(/\]\(/g)].length).to.be.at.most(25);
  });

  it("contains at most five figures", () => {
    const [, summary = ""] = /<!-- bench: summary -->([^]*?)<!-- end of bench -->/.exec(readme) ?? [];
    expect(summary.match(/^\| .*\|$/gm)?.slice(2)).to.have.length.within(1, 5);
  });

  it("names the version of the packages", async () => {
    const text = await readPage("packages/keyroot/package.json");
    const { version } = JSON.parse(text) as { version: string };
    expect(readme).to.include(`This is version ${version} `);
  });

  it("contains only code blocks that these tests run", () => {
    const languages = Array.from(readme.matchAll(/^```(\w+)$/gm), ([, language]) => language);
    expect(languages.toSorted()).to.deep.equal(["js", "sh", "sh", "sh", "text"]);
  });

  it("contains only tested commands", () => {
    const commands = [...readme.matchAll(/^(?:npx|npm) .*$/gm)].map(([command]) => command);
    const runHere = blocks.flat().filter((command) => /^np[mx] /.test(command));
    expect(commands.toSorted()).to.deep.equal(runHere.toSorted());
  });

  it("prints every step of the demo with npm start", () => {
    for (const { name, expectedCode } of ATTACKS)
      expect(printed).to.match(new RegExp(`^ +✓ ${name} +${expectedCode} `, "m"));
    expect(printed).to.contain("verified 25 of 25").and.contain("\nThe demo succeeded.\n");
  });

  it("creates 25 users of a sample partner with npm start", async () => {
    const { service } = await readStackFile();
    const { serviceUrl } = service ?? never();
    const [bizID, serverToken] = [printedAfter("biz_id"), printedAfter("server token")];
    const users = new Set<string>();
    for await (const user of new PartnerClient({ serviceUrl, bizID, serverToken }).listUsers()) users.add(user.user_id);
    expect(users.size).to.equal(25);
  });

  it("prints links to the explorer and the dashboard with npm start", async () => {
    const { contract, service } = await readStackFile();
    const { serviceUrl } = service ?? never();
    const [explorer = "", dashboard = ""] = printed.match(/http:\/\/localhost:\S+/g) ?? [];
    expect(await (await fetch(explorer)).text()).to.contain(contract);
    const { origin, pathname, hash } = new URL(dashboard);
    expect(origin).to.equal(serviceUrl.replace("127.0.0.1", "localhost"));
    expect(hash).to.match(/^#\/invitation\/[\w-]{43}$/);
    expect(await (await fetch(serviceUrl + pathname)).text()).to.contain("Keyroot dashboard");
  });

  it("publishes users with its commands", async () => {
    // The commands write their files to the test's folder.
    const inFolder = (command: string) =>
      command.replace(/(?<!-)\b(users\.jsonl|files)\b/g, (name) => join(folder, name));
    const outputs: string[] = [];
    for (const [i, command] of (blocks[2] ?? []).entries()) {
      // npx finds Hardhat in the project. After the first command, the test starts the same file without npx.
      const hardhat = i === 0 ? "npx --no-install hardhat" : "node_modules/.bin/hardhat";
      const script = inFolder(command).replace("npx hardhat", hardhat);
      const { stdout } = await run("bash", ["-euo", "pipefail", "-c", script], { cwd: root, env });
      outputs.push(stdout);
    }
    const [sampled, published, audited] = outputs;
    expect(sampled).to.equal("");
    const [shown = ""] = blocksOf(readme, "text");
    const [publishedLine = "", auditedLine = ""] = shown.split("\n");
    expect(published).to.include(publishedLine).and.include("Published 100 users");
    expect(audited).to.include(auditedLine).and.include("Audit passed");
  });

  it("verifies a published key with its program", async () => {
    const stack = await readStackFile();
    const program = (programs[0] ?? "")
      .replace("http://127.0.0.1:8545", stack.rpcUrl)
      .replace("http://127.0.0.1:8546", stack.merkleUrl)
      .replace("http://127.0.0.1:8549", stack.beaconUrl ?? never())
      .replace(/"0x[0-9a-fA-F]{40}"/, JSON.stringify(stack.contract))
      .replace('"users.jsonl"', JSON.stringify(join(folder, "users.jsonl")));
    expect(readme).to.include("`npx node verify.mjs`");
    const args = ["--no-install", "node", "--input-type=module", "--eval", program];
    const { stdout } = await run("npx", args, { cwd: root, env });
    expect(stdout).to.equal("verified a key of 105 bytes\n");
  });

  it("starts a stack that runs until SIGTERM, then frees its ports and removes its files", async () => {
    const stack = await readStackFile();
    const whileRunning = printed;
    const closed = once(start, "close");
    start.kill("SIGTERM");
    expect(await closed).to.deep.equal([0, null]);
    expect(printed).to.equal(`${whileRunning}\nStopping the local stack.\n`);
    await untilGroupIsGone(start);
    expect(await stackFoldersIn(folder)).to.be.empty;
    expect(await readdir(folder)).to.not.include("stack.json");
    const [explorer] = /http:\/\/localhost:\d+\//.exec(printed) ?? [];
    for (const address of [stack.rpcUrl, stack.merkleUrl, stack.beaconUrl, stack.service?.serviceUrl, explorer]) {
      const port = Number(new URL(address ?? never()).port);
      const server = await hold(port);
      expect(portOf(server)).to.equal(port);
      server.close();
    }
  });
});

describe("CONTRIBUTING.md", () => {
  it("names exactly the folders of the project", async () => {
    const page = await readPage("CONTRIBUTING.md");
    const named = [
      ...(page.split("\n## Where code goes\n")[1]?.split("\n## ")[0] ?? "").matchAll(/^\| `([^`]+)`/gm),
    ].map(([, name]) => name);
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
