import { expect } from "chai";
import hre from "hardhat";
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { existsSync, globSync } from "node:fs";
import { copyFile, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import type { Postgres } from "../support/postgres/postgres.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { parseKeyRecord } from "../../packages/keyroot/src/identity/keyRecord.ts";
import type { KeyRecord } from "../../packages/keyroot/src/identity/serializedRecord.ts";
import { SimulatedBeacon } from "@keyroot/operator/testing";
import { PartnerClient } from "../../packages/client/src/partner.ts";
import { UserClient } from "../../packages/client/src/user.ts";
import { generateKeyPair } from "../../packages/keyroot/src/identity/newPublicKey.ts";
import { randomUserID } from "../../packages/keyroot/src/identity/userID.ts";
import { COMMANDS } from "../../packages/operator/src/commands/commandTable.ts";
import { COMMANDS as SERVICE_COMMANDS } from "../../packages/service/src/commands/index.ts";
import { type Stack, startStack } from "../../packages/service/src/stack/startStack.ts";
import { rpcCaller } from "../../packages/keyroot/src/transport/jsonRpc.ts";
import { freePort } from "../support/servers/ports.ts";
import {
  CommandLine,
  environment,
  npxHardhat as hardhat,
  outcomeOf,
  type RunOptions,
} from "../support/processes/commandLine.ts";
import { describeIfNamed } from "../support/named.ts";
import { installPackages, packPackage, ROOT, run } from "../support/packages/installPackages.ts";
import { serve, serveFolder } from "../support/servers/servers.ts";
import { closedAfterEach, never } from "../support/support.ts";
import { ENDLESS_MS } from "../support/endless.ts";
import { installTools } from "./tools.ts";

/** Maximum size of an install on disk in MB, without optional packages: the operator alone, and with the service. */
const MAX_MB = { operator: 55, service: 116 };
const BLOCK = 4096;
/** The commands of both packages. */
const NAMES = Object.keys({ ...COMMANDS, ...SERVICE_COMMANDS });

const programIn = (folder: string) =>
  new CommandLine("npx keyroot", [process.execPath, join(folder, "node_modules/@keyroot/operator/dist/cli.js")]);

const OPTIONAL = ["@aws-sdk/client-s3", "@electric-sql/pglite"];
const JSON_TYPE = { "Content-Type": "application/json" };
const ADMIN_TOKEN = randomBytes(32).toString("hex");

/** Installs the packed operator in a folder, with the README's command. */
async function installWithReadme(cwd: string): Promise<void> {
  const readme = await readFile(join(ROOT, "packages/operator/README.md"), "utf8");
  const [command = never()] = /^npm install build\/.*$/m.exec(readme) ?? [];
  const [tarball] = await Promise.all([packPackage("operator"), packPackage("contracts"), packPackage("keyroot")]);
  await writeFile(join(cwd, "package.json"), "{}");
  const install = command
    .replaceAll("build/", `${dirname(tarball)}/`)
    .replace("install", "install --prefer-offline --no-audit");
  await run("bash", ["-c", install], { cwd });
}

describeIfNamed(import.meta.filename)("@keyroot/operator, installed in an empty folder", () => {
  const closing = closedAfterEach();
  /** The names of the commands that succeeded in the tests. */
  const ranWell = new Set<string>();
  /** The folder with the operator alone, installed with the README's command for tarballs. */
  let plainApp: string;
  /** The folder with the operator and the service. */
  let app: string;
  let keyroot: CommandLine;
  let stack: Stack;
  let postgres: Postgres;
  let records: KeyRecord[];
  /** Options that name the chain, and the file host. */
  let chain: string[];
  let target: string[];

  before("installs the tarballs, and starts a stack", async () => {
    plainApp = await mkdtemp(join(tmpdir(), "keyroot-operator-"));
    await installWithReadme(plainApp);
    app = await installPackages("keyroot", "client", "contracts", "operator", "service");
    keyroot = programIn(app);
    stack = await startStack(hre, { ports: { chain: 0, files: 0 } });
    postgres = await startPostgres();
    chain = ["--rpc", stack.rpcUrl, "--contract", stack.contract, "--chain-id", String(stack.chainId)];
    target = [...chain, "--merkle-url", stack.merkleUrl];
    const { stdout } = await keyroot.run(["sample-users", "--count", "5"]);
    await writeFile(inApp("users.jsonl"), stdout);
    records = stdout
      .trimEnd()
      .split("\n")
      .map((line) => parseKeyRecord(line));
  });
  after(async () => {
    await stack.close();
    await postgres.stop();
    await rm(plainApp, { recursive: true });
  });

  const inApp = (path: string) => join(app, path);
  const nameOf = ([name = ""]: readonly string[]) => name;
  /** Runs a command that succeeds, and returns the last object that it prints. */
  const succeed = async (args: readonly string[], options?: RunOptions) => {
    ranWell.add(nameOf(args));
    const { code, json, events } = await keyroot.jsonLines(args, options);
    expect(code, JSON.stringify(json)).to.equal(0);
    return { json, events };
  };
  /** Runs a command that fails with this exit code and error code. */
  const fail = async (args: readonly string[], exit: number, error: string, options?: RunOptions) => {
    const { code, json } = await keyroot.jsonLines(args, options);
    expect([code, json.error?.["code"]], JSON.stringify(json)).to.deep.equal([exit, error]);
  };

  describe("the installed packages", () => {
    for (const [name, maxMB] of Object.entries(MAX_MB)) {
      it(`take at most ${maxMB} MB without optional packages: ${name}`, async () => {
        const modules = join(name === "operator" ? plainApp : app, "node_modules");
        const found = await readdir(modules, { recursive: true });
        expect(found.filter((path) => /(?:^|node_modules\/)(?:hardhat|@nomicfoundation)$/.test(path))).to.be.empty;
        for (const optional of OPTIONAL) expect(existsSync(join(modules, optional)), optional).to.be.false;
        expect(existsSync(join(modules, "@keyroot", "service"))).to.equal(name === "service");
        const sizes = await Promise.all(found.map(async (path) => (await stat(join(modules, path))).size));
        // Files take whole blocks of the disk.
        const bytes = sizes.reduce((sum, size) => sum + Math.ceil(size / BLOCK) * BLOCK, 0);
        expect(bytes / 2 ** 20).to.be.at.most(maxMB);
      });
    }

    it("print the package to install if a service command runs without it", async () => {
      const { code, stderr } = await programIn(plainApp).run(["serve"]);
      expect(code).to.equal(2);
      expect(stderr).to.contain("npm install @keyroot/service");
      const { stdout } = await programIn(plainApp).run(["--help"]);
      for (const name of Object.keys(COMMANDS)) expect(stdout).to.match(new RegExp(`^ {2}${name} `, "m"));
      for (const name of Object.keys(SERVICE_COMMANDS)) expect(stdout).not.to.match(new RegExp(`^ {2}${name} `, "m"));
    });

    it("have declarations with which a strict app compiles the admin client", async () => {
      const compilerOptions = {
        skipDefaultLibCheck: true,
        ...{ strict: true, module: "nodenext", target: "es2022", lib: ["es2022", "dom"], types: [], noEmit: true },
      };
      await writeFile(inApp("tsconfig.json"), JSON.stringify({ compilerOptions, files: ["admin.ts"] }));
      await copyFile(join(import.meta.dirname, "app", "admin.ts"), inApp("admin.ts"));
      const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
      await run(process.execPath, [compiler, "--project", app]).catch((error: unknown) => {
        throw new Error(String((error as { stdout?: unknown }).stdout), { cause: error });
      });
    });

    it("can be installed from tarballs with the README's command", async () => {
      const { code, stdout } = await programIn(plainApp).run(["--version"]);
      expect(code).to.equal(0);
      expect(stdout).to.match(/^\d+\.\d+\.\d+\n$/);
    });

    it("load on the oldest supported Node", async function () {
      const node = (await installTools()).node[22];
      if (node === undefined) return this.skip(); // npm has no binary of this version for this platform.
      // The excluded files start programs or threads, or need Hardhat.
      const excluded = /\/(?:cli|program)\.js$|worker|\/(?:hardhat|tasks)\//i;
      const files = ["keyroot", "@keyroot/client", "@keyroot/operator", "@keyroot/service"].flatMap((name) =>
        globSync(inApp(`node_modules/${name}/dist/**/*.js`)).filter((path) => !excluded.test(path)),
      );
      expect(files.filter((path) => path.includes("nodeFetch"))).to.have.lengthOf(1);
      const program = `for (const file of ${JSON.stringify(files)})
        await import(file).catch((error) => {
          // Some files need an optional package.
          if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
        });
      console.log(process.version);`;
      await writeFile(inApp("loadAll.mjs"), program);
      expect(await run(node, ["loadAll.mjs"], { cwd: app })).to.deep.equal({ stdout: "v22.13.0\n", stderr: "" });
    });

    it("print the required version on an older Node", async function () {
      const versions = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "node"));
      const isOld = (path: string) =>
        /^v(?:[1-9]|1\d|2[01])\./.test(execFileSync(path, ["--version"], { encoding: "utf8" }));
      const old = versions.find((path) => existsSync(path) && isOld(path));
      if (old === undefined) this.skip(); // The machine has no Node below 22. CI has Node 20.
      const onOld = new CommandLine("keyroot", [old, inApp("node_modules/@keyroot/operator/dist/cli.js")]);
      const { code, stdout, stderr } = await onOld.run(["status"]);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: "" });
      expect(stderr).to.match(
        /^NODE_UNSUPPORTED: Keyroot needs Node 22\.13 or later\. This is Node [\d.]+\. Install Node 24 /,
      );
      expect((await onOld.json(["status"])).json.error).to.include({ code: "NODE_UNSUPPORTED" });
    });

    it("contain the program keyroot, which lists all commands", async () => {
      const { stdout } = await run(inApp("node_modules/.bin/keyroot"), ["--help"], {
        env: { PATH: join(process.execPath, "..") },
      });
      for (const name of NAMES) expect(stdout).to.match(new RegExp(`^ {2}${name} `, "m"));
    });

    it("print the name of a missing optional package", async () => {
      const publish = ["publish", "--records", inApp("users.jsonl"), ...target];
      const { stderr, code } = await keyroot.run([...publish, "--files", "s3://bucket/prefix"]);
      expect(code).to.equal(2);
      expect(stderr).to.contain("npm install @aws-sdk/client-s3");
      const env = { KEYROOT_PORT: "0" };
      for (const name of ["serve", "migrate"]) {
        const without = await keyroot.run([name], { env });
        expect(without.code).to.equal(2);
        expect(without.stderr).to.contain("npm install @electric-sql/pglite");
      }
    });
  });

  describe("build-file", () => {
    it("writes a file that check-file accepts", async () => {
      await succeed(["build-file", "--records", inApp("users.jsonl"), "--files", inApp("files")]);
      const [name = ""] = await readdir(inApp("files"));
      const { json } = await succeed(["check-file", inApp(`files/${name}`)]);
      expect(json["users"]).to.equal(5);
      ranWell.add("sample-users");
    });

    it("make records from a CSV file", async () => {
      await writeFile(inApp("ids.secret"), randomBytes(32).toString("hex"), { mode: 0o600 });
      await writeFile(inApp("customers.csv"), `email,pubKey\nann@example.com,${records[0]?.pubKey}`);
      const source = ["--csv", inApp("customers.csv"), "--id-column", "email", "--secret-file", inApp("ids.secret")];
      const { code, stdout } = await keyroot.run(["make-records", ...source]);
      const { pubKey } = JSON.parse(stdout) as KeyRecord;
      expect([code, pubKey]).to.deep.equal([0, records[0]?.pubKey]);
      ranWell.add("make-records");
    });
  });

  describe("the commands for a chain", () => {
    it("publish keys that verify, audit and watch confirm", async () => {
      const input = ["--records", inApp("users.jsonl")];
      const [{ userID, pubKey } = never(), other = never()] = records;
      expect((await succeed(["estimate", ...input, ...chain])).json).to.include({ users: 5, transactions: 1 });
      const publish = ["publish", ...input, ...target, "--files", stack.filesDir, "--plan", inApp("plan")];
      expect((await succeed(publish)).json).to.include({ users: 5, alreadyPublished: 0 });
      expect((await succeed(["status", ...chain])).json).to.include({ userCount: 5 });
      expect((await succeed(["verify", userID, ...target, "--trust", "own-node"])).json).to.include({ verified: true });
      const bundled = (await succeed(["bundle", userID, ...target, "--files", inApp("bundles")])).json;
      const { path } = bundled["bundle"] as { path: string };
      const { hash } = bundled["block"] as { hash: string };
      await succeed(["verify", "--bundle", path, "--trust", `pinned-block:${hash}`, "--contract", stack.contract]);
      // Each thread loads a separate module, so the package must contain it.
      const audited = await succeed(["audit", ...target, "--state", inApp("audit.sqlite")]);
      expect(audited.json).to.include({ passed: true, userCount: 5 });
      const watching = ["watch", ...target, "--user-id", userID, "--once", "--from-block", "0", "--public-key"];
      expect((await succeed([...watching, pubKey])).events.map(({ event }) => event)).to.include("published");

      const { code, json, events } = await keyroot.jsonLines([...watching, other.pubKey]);
      expect([code, [...events, json].filter(({ event }) => event === "alarm").length]).to.deep.equal([1, 1]);
    });

    it("publish every key after an interruption", async () => {
      const sending = new EventEmitter();
      const holding = closing(
        await serve((request, response) => {
          void text(request).then(async (body) => {
            if (body.includes("eth_sendTransaction")) sending.emit("sending");
            else response.end(await (await fetch(stack.rpcUrl, { method: "POST", body, headers: JSON_TYPE })).text());
          });
        }),
      );
      const { stdout } = await keyroot.run(["sample-users", "--count", "2"]);
      await writeFile(inApp("more.jsonl"), stdout);
      const publish = ["publish", "--records", inApp("more.jsonl"), ...target, "--files", stack.filesDir];
      const args = [...publish, "--plan", inApp("interrupted")];
      const child = keyroot.start(args.with(args.indexOf("--rpc") + 1, holding.url));
      const ended = outcomeOf(child);
      await once(sending, "sending");
      child.kill("SIGINT");
      const { code, stderr } = await ended;
      expect(code).to.equal(130);
      expect(stderr).to.match(/^Interrupted\. .*\n {2}npx keyroot publish /m);
      expect((await succeed(args)).json).to.include({ users: 2 });
    });

    it("transfer the contract to another owner and back", async () => {
      const { owner } = (await succeed(["status", ...chain])).json;
      const accounts = (await rpcCaller(stack.rpcUrl, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS })(
        "eth_accounts",
        [],
      )) as string[];
      for (const newOwner of [accounts[1] ?? never(), String(owner)]) {
        await succeed(["transfer-ownership", "--new-owner", newOwner, ...chain]);
        await succeed(["accept-ownership", ...chain]);
      }
      expect((await succeed(["status", ...chain])).json).to.include({ owner });
    });

    it("deploy a contract that the key from make-owner-key owns", async () => {
      const key = ["make-owner-key", "--out", inApp("owner.json")];
      const env = { KEYROOT_PASSPHRASE: randomBytes(16).toString("hex") };
      await fail(key, 2, "PASSPHRASE_MISSING");
      const owner = String((await succeed(key, { env })).json["address"]);
      await fail(key, 2, "ARGUMENT_INVALID", { env });
      const call = rpcCaller(stack.rpcUrl, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
      const [from] = (await call("eth_accounts", [])) as string[];
      await call("eth_sendTransaction", [{ from, to: owner, value: "0xde0b6b3a7640000" }]);
      const deploy = ["deploy", "--rpc", stack.rpcUrl, "--chain-id", String(stack.chainId)];
      // The record of the deployment is in the current folder.
      const { stdout } = await run(process.execPath, [keyroot.words[1] ?? "", ...deploy, "--json"], {
        cwd: app,
        env: environment({ ...env, KEYROOT_KEY_FILE: inApp("owner.json") }),
      });
      ranWell.add("deploy");
      expect(JSON.parse(stdout)).to.include({ owner, existed: false });
      await fail([...deploy, "--owner", "0x12"], 2, "ARGUMENT_INVALID");
    });

    it("write the contract's address into an explorer's files", async () => {
      const { json } = await succeed(["explorer", "--out", inApp("explorer"), ...target]);
      expect(json["files"]).to.not.be.empty;
      expect(await readFile(inApp("explorer/index.html"), "utf8")).to.contain(stack.contract);
    });

    it("watch a key until Ctrl-C", async () => {
      const [{ userID, pubKey } = never()] = records;
      const child = keyroot.start(["watch", ...target, "--user-id", userID, "--public-key", pubKey, "--every", "1"]);
      const ended = outcomeOf(child);
      await once(child.stdout, "data");
      child.kill("SIGINT");
      expect(await ended).to.include({ code: 0, stderr: "" });
    });
  });

  describe("the commands for block sources", () => {
    it("read the light client's block", async () => {
      const call = rpcCaller(stack.rpcUrl, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
      const beacon = new SimulatedBeacon({ call });
      await call("evm_mine", []);
      const { url } = closing(await beacon.listen());
      const args = ["light-client", "--checkpoint", beacon.checkpoint, "--beacon-network", "test", "--beacon"];
      expect((await succeed([...args, url])).json).to.include({ chainId: stack.chainId, participation: 512 });
    });

    it("make an account", async () => {
      const env = { KEYROOT_PASSPHRASE: randomBytes(16).toString("hex") };
      const files = ["--account", inApp("account.txt"), "--keys", inApp("recovery.json")];
      const registry = ["--chain-id", "31337", "--contract", stack.contract];
      const made = ["account", "new", ...files, "--public-key", records[0]?.pubKey ?? never(), ...registry];
      await succeed(made, { env });
      expect(await readFile(inApp("account.txt"), "utf8")).to.match(/^keyroot\/account-v1\n/);
    });

    it("sign and compare statements with an auditor's key", async () => {
      const args = ["make-auditor-key", "--out", inApp("auditor.json"), "--name", "auditor.example"];
      const env = { KEYROOT_PASSPHRASE: randomBytes(16).toString("hex") };
      const key = String((await succeed(args, { env })).json["key"]);
      expect(key).to.match(/^auditor\.example\+/);
      await writeFile(inApp("auditors.txt"), key);
      const statements = ["--statements", inApp("statements")];
      const place = ["--rpc", stack.rpcUrl, "--contract", stack.contract, "--merkle-url", stack.merkleUrl];
      const { json: status } = await succeed(["status", ...place.slice(0, 4)]);
      const trust = ["--trust", "own-node", "--code-hash", String(status["codeHash"]), "--interval", "1"];
      const signing = ["sign-statement", ...place, ...trust, "--key", inApp("auditor.json"), ...statements];
      expect((await succeed(signing, { env })).json["signed"]).to.include({ auditor: key });
      const host = closing(await serveFolder(inApp("statements")));
      const others = ["--statement-urls", host.url, "--auditors", inApp("auditors.txt")];
      expect((await succeed(["compare-statements", ...others, ...statements])).json).to.include({ agrees: true });
    });
  });

  describe("serve", () => {
    it("responds to the commands for partners until Ctrl-C", async () => {
      const keys = inApp("keys.json");
      await succeed(["make-signing-key", "--out", keys]);
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const env = {
        DATABASE_URL: await postgres.createDatabase(),
        ...{ KEYROOT_SIGNING_KEYS: keys, KEYROOT_SERVICE_URL: url, KEYROOT_PORT: String(port) },
        KEYROOT_MONITORING_PORT: "0",
        ...{ KEYROOT_ADMIN_TOKEN: ADMIN_TOKEN, KEYROOT_RPC_URL: stack.rpcUrl, KEYROOT_CONTRACT: stack.contract },
        KEYROOT_CHAIN_ID: String(stack.chainId),
        ...{ KEYROOT_FILES: stack.filesDir, KEYROOT_LOG_LEVEL: "error", KEYROOT_HOLD_PERIOD: "0" },
      };
      await fail(["serve"], 2, "SCHEMA_OUTDATED", { env });
      expect((await succeed(["migrate"], { env })).json).to.deep.equal({ databases: 1 });

      const child = keyroot.start(["serve", "--json"], env);
      closing({ close: () => child.kill("SIGKILL") });
      const ended = outcomeOf(child);
      const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      expect(JSON.parse(line)).to.include({ url });
      ranWell.add("serve");

      const service = ["--service-url", url];
      const { json: partner } = await succeed(["create-partner", "--name", "Acme", ...service], { env });
      const bizID = String(partner["bizID"]);
      const { json: token } = await succeed(["create-server-token", "--biz-id", bizID, ...service], { env });
      const client = new PartnerClient({ serviceUrl: url, bizID, serverToken: String(token["serverToken"]) });
      const userID = randomUserID();
      await client.createUser(userID, "eu-west-1");
      const refreshToken = await client.createUserRefreshToken(userID, "phone");
      const { chainId, contract } = stack;
      await new UserClient({ serviceUrl: url, bizID, refreshToken, chainId, contract }).register(generateKeyPair());

      // The same variables configure the publisher, except for the token and the port.
      const publisher = keyroot.start(["publisher", "--json"], env);
      closing({ close: () => publisher.kill("SIGKILL") });
      const publisherEnded = outcomeOf(publisher);
      await once(createInterface({ input: publisher.stdout }), "line");
      ranWell.add("publisher");
      expect((await succeed(["publish-registered", ...service], { env })).json).to.include({ published: 1 });
      publisher.kill("SIGINT");
      expect(await publisherEnded).to.include({ code: 0, stderr: "" });

      expect((await succeed(["reconcile"], { env })).json).to.include({ recorded: 0, replaced: 0, added: 0 });
      expect((await succeed(["rebuild-files"], { env })).json).to.deep.include({ files: 1, missing: [], lost: [] });

      const ofPartner = ["--biz-id", bizID, ...service];
      expect((await succeed(["list-partners", ...service], { env })).json).to.include({ name: "Acme" });
      await succeed(["suspend-partner", ...ofPartner], { env });
      await succeed(["resume-partner", ...ofPartner], { env });
      expect((await succeed(["limit-users", "--user-limit", "5", ...ofPartner], { env })).json).to.include({
        user_limit: 5,
      });
      const { json: listed } = await succeed(["list-server-tokens", ...ofPartner], { env });
      await succeed(["revoke-server-token", "--token-id", String(listed["token_id"]), ...service], { env });
      const { json: first, events: later } = await succeed(["list-audit-log", "--biz-id", bizID, ...service], { env });
      expect(first).to.include({ action: "partner.created" });
      expect(later.map(({ action }) => action)).to.include("key.published");
      expect((await succeed(["invite", "--name", "Ada", ...ofPartner], { env })).json["url"]).to.match(/^http/);
      const ofOperator = ["invite", "--operator", "--name", "Olga", ...service];
      expect((await succeed(ofOperator, { env })).json["url"]).to.match(/^http/);

      child.kill("SIGINT");
      expect(await ended).to.include({ code: 0, stderr: "" });
    });
  });

  describe("the programs in the packages' READMEs", () => {
    it("publish users", async () => {
      const page = await readFile(inApp("node_modules/@keyroot/operator/README.md"), "utf8");
      const [, sample = ""] = /```ts\n(import \{ FolderJournal[^]*?)```/.exec(page) ?? [];
      const { stdout: users } = await keyroot.run(["sample-users", "--count", "3"]);
      await writeFile(inApp("api.jsonl"), users);
      const program = sample
        .replace("http://127.0.0.1:8545", stack.rpcUrl)
        .replace("0x5FbDB2315678afecb367f032d93F642f64180aa3", stack.contract)
        .replace("users.jsonl", inApp("api.jsonl"))
        .replace('FolderStore("files")', `FolderStore(${JSON.stringify(stack.filesDir)})`)
        .replace('"plan"', JSON.stringify(inApp("api-plan")));
      await writeFile(inApp("program.ts"), program);
      const { stdout } = await run(process.execPath, [inApp("program.ts")]);
      expect(stdout).to.match(/^[0-9a-f]{64} 3 \d+\n$/);
    });

    it("audit a registry", async () => {
      const page = await readFile(inApp("node_modules/@keyroot/operator/README.md"), "utf8");
      const [, sample = ""] = /```ts\n(import \{ audit,[^]*?)```/.exec(page) ?? [];
      const program = sample
        .replace("http://127.0.0.1:8545", stack.rpcUrl)
        .replace("0x5FbDB2315678afecb367f032d93F642f64180aa3", stack.contract)
        .replace('"files"', JSON.stringify(stack.filesDir));
      await writeFile(inApp("audit.ts"), program);
      const { stdout } = await run(process.execPath, [inApp("audit.ts")]);
      expect(stdout).to.match(/^passed \d+ \[\]\n$/);
    });

    it("start the service", async () => {
      const page = await readFile(inApp("node_modules/@keyroot/service/README.md"), "utf8");
      const [, sample = ""] = /```ts\n(import \{ startService[^]*?)```/.exec(page) ?? [];
      const [databaseUrl, keys] = [await postgres.createDatabase(), inApp("api-keys.json")];
      const url = `http://127.0.0.1:${await freePort()}`;
      await succeed(["make-signing-key", "--out", keys]);
      const env = { DATABASE_URL: databaseUrl, KEYROOT_SIGNING_KEYS: keys, KEYROOT_SERVICE_URL: url };
      await succeed(["migrate"], { env });
      const program = sample
        .replace("postgres://…", databaseUrl)
        .replace('"keys.json"', JSON.stringify(keys))
        .replace("https://…", url)
        .replace("8547", new URL(url).port)
        .replace("9547", "0");
      await writeFile(inApp("service.ts"), program);
      const { stdout } = await run(process.execPath, [inApp("service.ts")]);
      // The program prints the URL among the lines of the service's log.
      expect(stdout.split("\n")).to.include(url);
    });
  });

  describe("the Hardhat plugin", () => {
    it("runs a stack without PGlite", async () => {
      // The repository's Hardhat, next to the installed packages.
      for (const name of ["hardhat", "@nomicfoundation"]) {
        await symlink(join(ROOT, "node_modules", name), inApp(`node_modules/${name}`));
      }
      const config = `import keyroot from "@keyroot/operator/hardhat";\nexport default { plugins: [keyroot] };\n`;
      await writeFile(inApp("hardhat.config.ts"), config);
      const [node, cli = ""] = hardhat.words;
      const spawnHardhat = (...args: string[]) => {
        const env = environment({ KEYROOT_STACK_FILE: inApp("stack.json"), TMPDIR: app });
        return spawn(node, [cli, "keyroot", ...args], { cwd: app, stdio: "pipe", env });
      };
      const child = spawnHardhat("stack", "--port", "0");
      try {
        const lines = createInterface({ input: child.stdout });
        const printed: string[] = [];
        for await (const line of lines) {
          printed.push(line);
          if (line.includes("Ctrl-C")) break;
        }
        expect(printed.join("\n")).to.contain("npm install @electric-sql/pglite");
        const { code, stdout } = await outcomeOf(spawnHardhat("status", "--json"));
        expect([code, (JSON.parse(stdout) as Record<string, unknown>)["userCount"]]).to.deep.equal([0, 0]);
      } finally {
        child.kill("SIGINT");
        await once(child, "close");
      }
      expect(existsSync(inApp("stack.json"))).to.be.false;
    });
  });

  describe("this test file", () => {
    it("runs every command", () => {
      expect([...ranWell].sort()).to.deep.equal(NAMES.toSorted());
    });
  });
});
