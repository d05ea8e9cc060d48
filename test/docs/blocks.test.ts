import { expect } from "chai";
import hre from "hardhat";
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { access, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { keccak256 } from "ethers";
import { FolderStore, publish, Registry } from "@keyroot/operator/publisher";
import { TEST_CHECKPOINT } from "@keyroot/operator/testing";
import { buildSite } from "@keyroot/web/build";
import { serializeKeyRecord } from "keyroot/internal/identity";
import { rpcCaller } from "keyroot/internal/transport";
import { type Stack, startStack } from "../../packages/service/src/stack/startStack.ts";
import { type CodeBlock, codeBlocksOf, isAsShown, readPage } from "../support/pages.ts";
import { LOCAL } from "../support/chain/local.ts";
import { ENDLESS_MS } from "../support/endless.ts";
import { sampleRecords } from "../support/samples.ts";
import { serve } from "../support/servers/servers.ts";
import { never, rpc, temporaryFolder } from "../support/support.ts";

const run = promisify(execFile);
const { root } = hre.config.paths;

/** Languages of blocks with requests, responses, output or settings. Tests compare these blocks and do not run them. */
const SHOWN = new Set(["http", "json", "text"]);
/** Pages whose blocks other tests run or compare. Each test names its page. */
const RUN_BY: Readonly<Record<string, string>> = {
  "README.md": "test/docs/readme.test.ts",
  "docs/backup.md": "test/docs/backup.test.ts",
  "docs/cache.md": "test/keyroot/docs.test.ts",
  "docs/benchmarks.md": "test/docs/benchmarks.test.ts",
  "docs/errors.md": "test/docs/formats.test.ts",
  "docs/install.md": "test/docs/install.test.ts",
  "docs/accounts.md": "test/docs/accounts.test.ts",
  "docs/key-types.md": "test/docs/keyTypes.test.ts",
  "docs/monitoring.md": "test/service/api/prometheus.test.ts",
  "docs/platforms.md": "test/docs/platforms.test.ts",
  "docs/publishing.md": "test/docs/signers.test.ts",
  "docs/quickstart.md": "test/consumers/newcomer.ts",
  "docs/safety-code.md": "test/keyroot/docs.test.ts",
  "docs/scaling.md": "test/docs/scaling.test.ts",
  "docs/threat-model.md": "test/keyroot/docs.test.ts",
  "docs/trust.md": "test/keyroot/docs.test.ts",
  "docs/variables.md": "test/docs/variables.test.ts",
  "docs/verifying.md": "test/keyroot/docs.test.ts",
  "docs/watching.md": "test/keyroot/docs.test.ts",
  "docs/webhooks.md": "test/docs/webhooks.test.ts",
};
/** Blocks that no test runs unchanged. Each entry is a text that only one block contains, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  // These commands change the clone, the machine or a network.
  "git clone https://github.com/keyroot/keyroot && cd keyroot":
    "edits files; pages.test.ts checks the scripts and files",
  'ALTER TABLE "users" DROP COLUMN "old"': "drops a column; database.test.ts checks migrations",
  "npm run audit:contract": 'takes 11 minutes; the stage "contract proof" runs the same parts',
  "adduser --system --group": "adds users to the machine; install.test.ts runs its lines about folders",
  "createuser keyroot && createdb": "needs Debian's PostgreSQL; the service's tests run on PostgreSQL",
  "systemctl start keyroot-migrate\nsystemctl enable": "needs systemd; install.test.ts verifies the units",
  "cp -a /opt/keyroot /opt/keyroot.old": "needs systemd; rollingUpgrade.test.ts upgrades services",
  "mv /opt/keyroot.old /opt/keyroot": "needs systemd; rollingUpgrade.test.ts upgrades services",
  "pg_restore --clean --if-exists -d keyroot": "needs Debian's PostgreSQL; restoreDrill.test.ts restores a database",
  "/opt/keyroot/node_modules/.bin/keyroot rebuild-files": "needs the installed service; rebuildFiles.test.ts runs it",
  "psql -h 10.0.0.11": "needs the machines of the page; killFailover.test.ts starts such a cluster",
  "journalctl -u keyroot": "needs systemd; install.md has the same check",
  "jq '{stdJsonInput: .": "needs Sourcify; pins.test.ts compiles the same input",
  // Other tests run the same commands or programs.
  "await user.storeAccount(account.text);": "stack/accounts.test.ts makes these calls",
  "npm start": "readme.test.ts runs it",
  "npx keyroot publish --chain-id 1": "needs a public chain; operator.test.ts runs the installed command",
  "npm install @keyroot/service @electric-sql/pglite\n": "operator.test.ts starts the installed service",
  "const service = await startService(": "operator.test.ts runs the service's own example",
  "npx keyroot deploy --owner 0xOWNER --deterministic":
    "a local chain has no CreateX; contracts/deploy.test.ts deploys with it",
  "npx keyroot transfer-ownership": "needs two keys; ownership.test.ts runs both commands",
  "brotli_static on;": "needs nginx with ngx_brotli; install.test.ts runs nginx if it is installed",
  "node scripts/secondVerifier/blockProof.mjs": "blockProofFormat.test.ts runs it with a recorded proof",
  "npm install @keyroot/operator\n": "operator.test.ts installs it, and runs each command",
  "npx hardhat keyroot status --network sepolia": "needs Sepolia; chain.test.ts runs commands with --network",
  "export default defineConfig({": "hardhatProject.test.ts has a project with the plugin",
  "signingSender(kmsSigner(address, signDigest)":
    "two lines for the program of publishing.md; signers.test.ts makes the calls",
  "node receiver.mjs": "installs a package; webhooks.test.ts runs the program",
  "openssl rand -base64 32 > /etc/keyroot/webhook-keys": "writes to /etc; the webhooks' tests read such files",
  // React Native's packages run only in an app. test/keyroot/phoneEngines runs the example's code in React Native's engines.
  "npx expo install": "needs an Expo app",
  "keyValueStore(AsyncStorage)": "needs an app; keyValueStore.test.ts has the same functions",
  "createMMKV(": "needs an app; keyValueStore.test.ts has the same functions",
  "openDatabaseSync(": "needs an app; keyValueStore.test.ts runs the same SQL",
  "AppState.addEventListener": "needs an app",
  "export async function checkOnce": "needs an app",
};

const PAGES = globSync(["*.md", "docs/*.md"], { cwd: root })
  .filter((path) => path !== "CHANGELOG.md")
  .toSorted();

describe("code blocks of the pages", () => {
  const folder = temporaryFolder();
  const opened = new AsyncDisposableStack();
  let stack: Stack;
  let service: { serviceUrl: string; adminToken: string };
  let codeHash: string;
  /** Pages with blocks that this file ran. */
  const ran = new Set<string>();

  before("a local system runs", async () => {
    stack = await startStack(hre, { ports: { chain: 0, files: 0, service: 0, beacon: 0 } });
    opened.defer(() => stack.close());
    service = stack.service ?? never();
    codeHash = keccak256(String(await rpc(stack.rpcUrl, "eth_getCode", [stack.contract, "latest"])));
  });
  after(() => opened.disposeAsync());
  beforeEach("the commands find the system, and the programs find the packages", async () => {
    const { rpcUrl, merkleUrl, filesDir, contract, chainId, beaconUrl } = stack;
    const file = { rpcUrl, merkleUrl, filesDir, contract, chainId, beaconUrl, service, pid: process.pid };
    await writeFile(join(folder.path, "stack.json"), JSON.stringify(file), { mode: 0o600 });
    await symlink(join(root, "node_modules"), join(folder.path, "node_modules"));
  });

  const environment = () => ({
    ...{ PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`, HOME: folder.path },
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    ...{ KEYROOT_STACK_FILE: join(folder.path, "stack.json"), KEYROOT_ADMIN_TOKEN: service.adminToken },
  });
  /**
   * Runs commands in the folder with the `keyroot` program, which starts faster than Hardhat. Both run the same command
   * definitions, and the README's test runs commands in Hardhat.
   */
  const shell = async (commands: string, env: Record<string, string> = {}) => {
    const script = commands
      .replaceAll("npx hardhat keyroot ", "keyroot ")
      .replaceAll("npx keyroot ", "keyroot ")
      .replaceAll("/opt/keyroot/node_modules/.bin/keyroot ", "keyroot ");
    const program = `keyroot() { node ${join(root, "packages/operator/src/cli.ts")} "$@"; }\n`;
    const options = { cwd: folder.path, env: { ...environment(), ...env } };
    return (await run("bash", ["-eo", "pipefail", "-c", program + script], options)).stdout;
  };
  const program = async (text: string, env: Record<string, string> = {}) => {
    await writeFile(join(folder.path, "program.ts"), text);
    const options = { cwd: folder.path, env: { ...environment(), ...env } };
    return (await run(process.execPath, ["program.ts"], options)).stdout;
  };
  /** The page's blocks, with the local system's addresses instead of the page's addresses. */
  const blocks = async (path: string, ...others: (readonly [string | RegExp, string])[]): Promise<CodeBlock[]> => {
    ran.add(path);
    const addresses: (readonly [string | RegExp, string])[] = [
      ...others,
      [/http:\/\/127\.0\.0\.1:8545|https:\/\/rpc\.example(?:\.com)?|(?<=--rpc )https:\/\/…/g, stack.rpcUrl],
      [/http:\/\/127\.0\.0\.1:8546|https:\/\/files\.example|(?<=--merkle-url )https:\/\/…/g, stack.merkleUrl],
      [/http:\/\/127\.0\.0\.1:8547/g, service.serviceUrl],
      [/https:\/\/beacon\.example/g, stack.beaconUrl ?? never()],
      [/0x2e52…/g, TEST_CHECKPOINT],
      ["0x5FbDB2315678afecb367f032d93F642f64180aa3", stack.contract],
      ["0x5fbdb2315678afecb367f032d93f642f64180aa3", stack.contract.toLowerCase()],
      [/(?<=--contract |KEYROOT_CONTRACT=)0x(?:…|CONTRACT)/g, stack.contract],
      [/(?<=--chain-id |KEYROOT_CHAIN_ID=)1\b/g, String(stack.chainId)],
      [
        /(?<=--trust pinned-block:)0x…/g,
        ((await rpc(stack.rpcUrl, "eth_getBlockByNumber", ["latest", false])) as { hash: string }).hash,
      ],
      [/(?<=--code-hash )0x…/g, codeHash],
    ];
    return codeBlocksOf(await readPage(path)).map((block) => ({
      ...block,
      text: addresses.reduce((text, [from, to]) => text.replaceAll(from, to), block.text),
    }));
  };
  /** Runs a page's commands in their order. Their output must match the page. */
  const follow = async (all: readonly CodeBlock[]) => {
    let output = "";
    for (const { language, text } of all) {
      if (language === "text") expect(isAsShown(output, text), `${output}\n${text}`).to.equal(true);
      else output = language === "sh" || language === "console" ? await shell(text) : await program(text);
    }
    return output;
  };

  let published = 0;
  /** Publishes new users in this process, because other tests run `publish`. Writes their records to users.jsonl. */
  const sampleUsers = async (count: number) => {
    const records = sampleRecords(count, ++published);
    await writeFile(
      join(folder.path, "users.jsonl"),
      records.map((record) => `${serializeKeyRecord(record)}\n`).join(""),
    );
    const call = rpcCaller(stack.rpcUrl, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
    const registry = await Registry.connect(call, stack.contract);
    await publish(records, { ...LOCAL, registry, store: new FolderStore(stack.filesDir) });
  };
  const firstUser = async () => (await readFile(join(folder.path, "users.jsonl"), "utf8")).split('"')[3] ?? never();
  const ofLanguage = (all: readonly CodeBlock[], language: string) => all.filter((one) => one.language === language);
  const texts = (all: readonly CodeBlock[]) => all.map(({ text }) => text).join("\n");

  it("audit a registry, as auditing.md shows", async () => {
    await sampleUsers(2);
    const page = await blocks("docs/auditing.md");
    expect(await follow(page.filter(({ text }) => !text.includes("audit:contract")))).to.match(/^passed \d+ \[\]\n$/);
  });

  it("estimate costs, as costs.md shows", async () => {
    expect(await follow(await blocks("docs/costs.md"))).to.include("1,000 users in 16 transactions");
  });

  it("print JSON, as commands.md shows", async () => {
    const page = (await blocks("docs/commands.md")).filter(({ text }) => text.includes("--json"));
    const report = (await follow(page)).trimEnd().split("\n").at(-1) ?? "";
    expect(JSON.parse(report)).to.include({ users: 3 });
  });

  it("watch keys and verify alarms, as watching.md shows", async () => {
    await sampleUsers(3);
    const page = await blocks("docs/watching.md");
    const [watch = never(), secret = never(), receiver = never()] = page.filter(
      ({ language }) => !["ini", "js"].includes(language),
    );
    expect(await follow([watch])).to.match(/3 of 3 watched keys published, 0 alarms\n$/);
    await follow([secret]);
    const check = `
      const secret = "whsec_" + Buffer.alloc(32, 1).toString("base64");
      const at = new Date();
      const signature = new Webhook(secret).sign("1", at, "{}");
      const headers = { "webhook-id": "1", "webhook-timestamp": String(Math.floor(at.getTime() / 1000)), "webhook-signature": signature };
      console.log(verifyAlarm(secret, "{}", headers));`;
    expect(await program(receiver.text + check)).to.equal("{}\n");
  });

  it("call the API, as the API pages and specification.md show", async () => {
    const commands = ofLanguage(await blocks("docs/api-concepts.md"), "sh");
    const all = `${texts(commands)}\necho; echo "$JWT"`;
    const [created = "", token = ""] = (await shell(all)).trimEnd().split("\n");
    expect(JSON.parse(created)).to.include({ status: 201, region: "eu-west-1" });

    const pages = [...(await blocks("docs/api-concepts.md")), ...(await blocks("docs/specification.md"))];
    const requests = pages.filter(({ text }) => text.startsWith("POST /v1"));
    expect(requests).to.have.lengthOf(3);
    for (const { text } of requests) {
      const [, path = "", body = ""] = /^POST \/v1(\S+)\n[^]*?\n\n([^]+)$/.exec(text) ?? [];
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
      const response = await fetch(`${service.serviceUrl}/v1${path}`, { method: "POST", headers, body });
      expect(response.status, text).to.be.oneOf([200, 201]);
    }
  });

  it("provision users and register keys, as api-clients.md shows", async () => {
    const output = await shell(
      'keyroot create-server-token --biz-id "$(keyroot create-partner --name Acme --json | cut -d \'"\' -f 4)" --json',
    );
    const { bizID, serverToken } = JSON.parse(output) as { bizID: string; serverToken: string };
    const [partner, provision, user, contact, operator, ...others] = await blocks("docs/api-clients.md");
    expect(others).to.deep.equal([]);
    // The operator publishes the key before a contact's app verifies it.
    const all = [partner, provision, user, operator, contact].map((block) => block?.text).join("\n");
    const report = `console.log(state, tokens.size, batches.length > 0, contactsKey.length);`;
    const env = { BIZ_ID: bizID, SERVER_TOKEN: serverToken, RUN_ID: "0123456789abcdef0123456789abcdef" };
    expect(await program(`${all}\n${report}`, env)).to.equal("pending 2 true 105\n");
  });

  it("sign and compare statements, as trust.md shows", async () => {
    await sampleUsers(2);
    const host = await serve((request, response) => {
      void readFile(join(folder.path, "bob", basename(request.url ?? ""))).then(
        (file) => response.end(file),
        () => response.writeHead(404).end(),
      );
    });
    try {
      await writeFile(join(folder.path, "passphrase"), "correct horse battery staple", { mode: 0o600 });
      const page = await blocks(
        "docs/trust.md",
        ["/run/secrets/passphrase", "passphrase"],
        ["/var/www/statements", "own-statements"],
        ["https://bob.example/statements", host.url],
        // A local chain has too few blocks for an interval of 16 blocks.
        ["--interval 16", "--interval 1"],
      );
      const [lightClient = never(), sign = never(), compare = never(), ...others] = ofLanguage(page, "sh");
      expect(lightClient.text).to.include("--trust light-client");
      expect(others).to.deep.equal([]);
      const asBob = (commands: string) =>
        commands
          .replace("auditor.example", "bob.example")
          .replaceAll("auditor-key.json", "bob.json")
          .replace("own-statements", "bob");
      await follow([sign]);
      await shell(asBob(sign.text));
      const keyOf = async (file: string) =>
        (JSON.parse(await readFile(join(folder.path, file), "utf8")) as { key: string }).key;
      const keys = [await keyOf("auditor-key.json"), await keyOf("bob.json")];
      await writeFile(join(folder.path, "auditors.txt"), `${keys.join("\n")}\n`);
      expect(await follow([compare])).to.match(/^Agrees: /);
    } finally {
      await host.close();
    }
  });

  it("verify a key with the light client, as trust.md shows", async () => {
    await sampleUsers(2);
    const [commands = never()] = ofLanguage(
      await blocks(
        "docs/trust.md",
        ["USER", await firstUser()],
        ["keyroot light-client --", "keyroot light-client --beacon-network test --"],
      ),
      "sh",
    );
    const [online = "", offline = ""] = commands.text.split(/^(?=.*--bundle FILE)/m);
    await shell(online);
    const files = await readdir(join(folder.path, "evidence"), { recursive: true });
    const named = (end: string) => join("evidence", files.find((name) => name.endsWith(end)) ?? never());
    const verify = offline
      .replace("--bundle FILE", `--bundle ${named(".bundle.json")}`)
      .replace("--block-proof FILE", `--block-proof ${named("block-proof.json")}`);
    const exported = online.split("\n").find((line) => line.startsWith("export ")) ?? never();
    expect(await shell(`${exported}\n${verify}`)).to.match(/is verified/);
  });

  it("write compressed copies, as publishing.md shows", async () => {
    const page = await blocks("docs/publishing.md", ["/var/www/merkle", stack.filesDir]);
    await shell("keyroot sample-users --count 2 > users.jsonl");
    await follow(page.filter(({ text }) => text.includes("build-file")));
    const files = await readdir(stack.filesDir);
    expect(files.some((name) => name.endsWith(".json.br"))).to.equal(true);
    // The test of docs/install.md runs Caddy. This test compares only the lines that differ.
    const [caddy = never()] = ofLanguage(codeBlocksOf(await readPage("docs/publishing.md")), "caddyfile");
    const installed =
      ofLanguage(codeBlocksOf(await readPage("docs/install.md")), "caddyfile")[0]?.text.split("\n") ?? [];
    const added = caddy.text.split("\n").filter((line) => !installed.includes(line));
    expect(added).to.deep.equal(["files.example.com {", "\troot * /var/www/merkle", "\t\tprecompressed br"]);
  });

  it("write an explorer and invite people, as explorer.md and dashboard.md show", async () => {
    const [start = never(), explorer = never(), ...others] = await blocks("docs/explorer.md", [
      /https:\/\/rpc-[ab]\.example/g,
      stack.rpcUrl,
    ]);
    expect([start.text.split(" ")[0], ...others]).to.deep.equal(["npm"]);
    await buildSite();
    await shell(explorer.text.replace(`${stack.rpcUrl},${stack.rpcUrl}`, stack.rpcUrl));
    await access(join(folder.path, "explorer/index.html"));
    const { bizID } = JSON.parse(await shell("keyroot create-partner --name Acme --json")) as { bizID: string };
    const page = await blocks("docs/dashboard.md", ["https://keys.example", service.serviceUrl], ["biz_…", bizID]);
    for (const { text } of page.slice(1)) expect(await shell(text)).to.include("/dashboard/#/invitation/");
  });

  it("deploy a registry and show its status, as contract.md shows", async () => {
    const page = await blocks(
      "docs/contract.md",
      ["npm install @keyroot/operator\n", ""],
      ["https://…", stack.rpcUrl],
      ["0xCONTRACT", stack.contract],
    );
    const [deploy = never()] = page;
    const [makeKey = "", deployment = ""] = deploy.text.split(/^(?=npx keyroot deploy)/m);
    const [, address = ""] = /(0x[0-9a-fA-F]{40})/.exec(await shell(makeKey)) ?? [];
    const [rich] = (await rpc(stack.rpcUrl, "eth_accounts")) as string[];
    await rpc(stack.rpcUrl, "eth_sendTransaction", [
      { from: rich, to: address, value: "0xde0b6b3a7640000", gas: "0x5208" },
    ]);
    const settings = makeKey.split("\n").filter((line) => line.startsWith("export "));
    const alone = { KEYROOT_STACK_FILE: join(folder.path, "none.json") };
    expect(await shell([...settings, deployment.replace("0xOWNER", address)].join("\n"), alone)).to.include(address);
    const status = page.find(({ text }) => text.includes("keyroot status")) ?? never();
    expect(await shell(status.text, alone)).to.include(stack.contract);
  });

  it("administer partners, as install.md and monitoring.md show", async () => {
    const { bizID } = JSON.parse(await shell("keyroot create-partner --name Acme --json")) as { bizID: string };
    const page = [...(await blocks("docs/install.md", ["biz_…", bizID])), ...(await blocks("docs/monitoring.md"))];
    const commands = page.filter(
      ({ language, text }) => language === "sh" && /bin\/keyroot (?:list|create|publish)-/.test(text),
    );
    expect(commands).to.have.lengthOf(5);
    // The environment already contains the admin token.
    for (const { text } of commands) await shell(text.replace(/^export .*$/m, ""));
  });

  it("check the test vectors, as formats.md shows", async () => {
    const [commands = never()] = ofLanguage(await blocks("docs/formats.md"), "sh");
    await shell(`cd ${root}\n${commands.text}`);
  });

  it("install only this repository's packages, as upgrading.md shows", async () => {
    const names = [...texts(await blocks("docs/upgrading.md")).matchAll(/npm install (\S+)/g)].map(([, name]) => name);
    expect(names).to.have.lengthOf(5);
    const manifests = globSync(["contracts/package.json", "packages/*/package.json"], { cwd: root });
    const parsed = await Promise.all(manifests.map(readPage));
    expect(parsed.map((text) => (JSON.parse(text) as { name: string }).name)).to.include.members(names);
  });

  it("each run in a test, or are in the list of exceptions", async () => {
    for (const [path, test] of Object.entries(RUN_BY)) expect(await readPage(test), path).to.include(basename(path));
    const found = new Map(Object.keys(NOT_RUN).map((text) => [text, 0]));
    const forgotten: string[] = [];
    for (const path of PAGES) {
      for (const { language, text } of codeBlocksOf(await readPage(path))) {
        const listed = Object.keys(NOT_RUN).filter((part) => text.includes(part));
        for (const part of listed) found.set(part, (found.get(part) ?? 0) + 1);
        const isRun = SHOWN.has(language) || ran.has(path) || path in RUN_BY;
        if (listed.length === 0 && !isRun) forgotten.push(`${path}: ${text.split("\n")[0]}`);
      }
    }
    expect(forgotten).to.deep.equal([]);
    expect([...found].filter(([, times]) => times === 0)).to.deep.equal([]);
  });
});
