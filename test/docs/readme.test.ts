import { expect } from "chai";
import { JsonRpcProvider } from "ethers";
import hre from "hardhat";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { BEACON_ATTACKS } from "../../demo/attacks/beaconAttacks.ts";
import { ATTACKS } from "../../demo/attacks/keyAttacks.ts";
import { PartnerClient } from "../../packages/client/src/partner.ts";
import type { StackFile } from "../../packages/operator/src/commands/stackFile.ts";
import {
  environment,
  type Running,
  signalGroup,
  stackFoldersIn,
  untilGroupIsGone,
} from "../support/processes/commandLine.ts";
import { hold, never, portOf } from "../support/support.ts";

const run = promisify(execFile);
const root = hre.config.paths.root;
const readme = await readFile(join(root, "README.md"), "utf8");
const live = /```console\n([^]*?)```/.exec(readme)?.[1]?.trim().split("\n") ?? [];
const programs = Array.from(readme.matchAll(/```js\n([^]*?)```/g), ([, program = ""]) => program);
const blocks = [...readme.matchAll(/```sh\n([^]*?)```/g)].map(([, block = ""]) => block.trim().split("\n"));

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
    expect(Number(count)).to.equal(ATTACKS.length + BEACON_ATTACKS.length);
  });

  it("begins with npm start and npm test", () => {
    expect(blocks[0]).to.deep.equal(["npm start", "npm test"]);
  });

  it("has at most 1,100 words", () => {
    // Like `wc -w`, this counts every text between spaces, including code, tables and punctuation.
    expect(readme.trim().split(/\s+/).length).to.be.at.most(1_100);
  });

  it("contains at most six figures, each marked as met or missed", () => {
    const [, summary = ""] = /<!-- bench: summary -->([^]*?)<!-- end of bench -->/.exec(readme) ?? [];
    const rows = summary.match(/^\| .*\|$/gm)?.slice(2) ?? [];
    expect(rows).to.have.length.within(1, 6);
    for (const row of rows) expect(row).to.match(/\| (?:met|\*\*missed\*\*) +\|$/);
  });

  it("contains only code blocks that these tests run", () => {
    const languages = Array.from(readme.matchAll(/^```(\w+)$/gm), ([, language]) => language);
    expect(languages.toSorted()).to.deep.equal(["console", "js", "sh", "sh", "sh"]);
  });

  it("contains only tested commands", () => {
    const commands = [...readme.matchAll(/^(?:npx|npm) .*$/gm)].map(([command]) => command);
    const runHere = [...blocks.flat(), ...live].filter((command) => /^np[mx] /.test(command));
    expect(commands.toSorted()).to.deep.equal(runHere.toSorted());
  });

  it("prints every step of the demo with npm start", () => {
    const rejections = [
      ...ATTACKS.map(({ name, expectedCode, codeWithProof = expectedCode }) => [name, codeWithProof]),
      ...BEACON_ATTACKS.map(({ name, expectedCode }) => [name, expectedCode]),
    ];
    for (const [attack, code] of rejections) expect(printed).to.match(new RegExp(`^ +${attack} .* ${code}$`, "m"));
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
    for (const [i, command] of (blocks[1] ?? []).entries()) {
      // npx finds Hardhat in the project. After the first command, the test starts the same file without npx.
      const hardhat = i === 0 ? "npx --no-install hardhat" : "node_modules/.bin/hardhat";
      const script = inFolder(command).replace("npx hardhat", hardhat);
      const { stdout } = await run("bash", ["-euo", "pipefail", "-c", script], { cwd: root, env });
      outputs.push(stdout);
    }
    const [sampled, built, checked, estimated, published, status, verified, bundled, audited, watched] = outputs;
    expect(sampled).to.equal("");
    expect(built).to.include("100 users in 2 files.");
    const counts = [...(checked ?? "").matchAll(/(\d+) users/g)].map(([, users]) => Number(users));
    expect(counts.sort((a, b) => b - a)).to.deep.equal([64, 36]);
    expect(estimated).to.include("100 users in 2 transactions, 0 already published.");
    expect(published).to.include("Published 100 users, 0 already published.");
    expect(status).to.match(/published users +125\n/);
    expect(verified).to.match(/^The public key of [a-z0-9]{32} is verified\.[^]* and a storage proof under it\n$/);
    expect(bundled).to.include(".bundle.json");
    expect(audited).to.include("Audit passed: every event, every file and every user is correct.");
    expect(watched).to.match(/^block \d+ .* 100 of 100 watched keys published, 0 alarms\n$/);
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

  it("creates a partner with its commands", async () => {
    const outputs: string[] = [];
    for (const command of blocks[2] ?? [])
      outputs.push((await run("bash", ["-c", command], { cwd: root, env })).stdout);
    expect(outputs[0]).to.match(/^biz_[\w-]{22}\n/);
    expect(outputs[1]).to.equal("Published 0 keys.\n");
  });

  it("publishes on another chain with its commands", async () => {
    const stack = await readStackFile();
    const [variables = [], [makePassphrase = "", ...commands] = []] = [true, false].map((isExport) =>
      live.filter((command) => command.startsWith("export ") === isExport),
    );
    await run("bash", ["-euc", makePassphrase], { cwd: folder });
    const settings = variables.join("\n").replace("https://…", stack.rpcUrl).replace("CHAIN_ID=1", "CHAIN_ID=31337");
    const program = `node ${join(root, "packages/operator/src/cli.ts")}`;
    // This stack file does not exist, so the commands read only the variables.
    const keys = { ...env, KEYROOT_STACK_FILE: join(folder, "none.json") };
    const runHere = async (command: string) => {
      const script = `${settings}\n${command.replace("npx keyroot", program)} --json`;
      const { stdout } = await run("bash", ["-euc", script], { cwd: folder, env: keys });
      return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as Record<string, string>;
    };
    const [makeKey = "", deploy = "", publish = ""] = commands;
    const { address = "" } = await runHere(makeKey);
    const rich = new JsonRpcProvider(stack.rpcUrl);
    await (await rich.getSigner()).sendTransaction({ to: address, value: 10n ** 18n });
    rich.destroy();
    const { contract = "", owner } = await runHere(deploy);
    expect(owner).to.equal(address);
    const filledIn = publish
      .replace("0x…", contract)
      .replace("DIR", stack.filesDir)
      .replace("https://…", stack.merkleUrl);
    expect(await runHere(filledIn)).to.include({ users: 100, alreadyPublished: 0 });
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
    const page = await readFile(join(root, "CONTRIBUTING.md"), "utf8");
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
