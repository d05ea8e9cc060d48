import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { serializeKeyRecord } from "keyroot/internal/identity";
import type { StackFile } from "../../../packages/operator/src/commands/stackFile.ts";
import { OWNER_KEY } from "../../support/chain/local.ts";
import { sampleRecords } from "../../support/samples.ts";
import { everything } from "../../support/everything.ts";
import { environment, hardhat, npxHardhat, outcomeOf, stackFoldersIn } from "../../support/processes/commandLine.ts";
import { never } from "../../support/support.ts";

const NODE_MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const [record = never(), ...others] = sampleRecords(3);

/** A test in the project, which uses a local stack. */
const OWN_TEST = `
import assert from "node:assert/strict";
import hre from "hardhat";
import { startStack } from "@keyroot/service/stack";
import { ANY_KEY, createVerifier } from "keyroot";
import { lightClient } from "keyroot/light-client";

describe("an app's tests", function () {
  // The test that runs this project limits the time.
  this.timeout(0);
  let stack;
  before(async () => {
    stack = await startStack(hre, { ports: { chain: 0, files: 0, service: 0 } });
  });
  after(() => stack.close());

  it("can verify with a simulated beacon endpoint", async () => {
    const { rpcUrl: rpc, chainId, contract, merkleUrl, connection } = stack;
    const trust = lightClient(await connection.keyroot.simulateBeacon());
    const verifier = createVerifier({ rpc, chainId, contract, merkleUrl, trust });
    const error = await verifier.verify("y".repeat(32), { expectedPublicKey: ANY_KEY }).catch((error) => error);
    assert.equal(error.code, "NOT_PUBLISHED");
    assert.equal(error.evidence.source, "light-client");
  });

  it("can use a chain with the registry, files and a service", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getCode", params: [stack.contract, "latest"] });
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(stack.rpcUrl, { method: "POST", headers, body });
    assert.match((await response.json()).result, /^0x[0-9a-f]{100,}$/);
    assert.equal((await fetch(stack.service.serviceUrl + "/openapi.json")).status, 200);
    assert.equal((await fetch(stack.merkleUrl + "/x")).status, 404);
  });
});
`;

for (const template of everything ? ["minimal", "mocha-ethers"] : ["mocha-ethers"]) {
  describe(`the Hardhat plugin in a project from the template ${template}`, () => {
    let folder: string;
    let env: NodeJS.ProcessEnv;

    /** @param program Hardhat's own, or the one that starts faster */
    const start = (args: readonly string[], more: NodeJS.ProcessEnv = {}, { words: [node, cli = ""] } = npxHardhat) =>
      spawn(node, [cli, ...args], { cwd: folder, stdio: "pipe", env: { ...env, ...more } });
    const json = async (args: readonly string[], more: NodeJS.ProcessEnv = {}) => {
      const { code, stdout, stderr } = await outcomeOf(start(["keyroot", ...args, "--json"], more, hardhat));
      const last = stdout.trimEnd().split("\n").at(-1) ?? "";
      if (last === "") throw new Error(stderr);
      return { code, json: JSON.parse(last) as Record<string, unknown> };
    };

    before(async () => {
      folder = await realpath(await mkdtemp(join(tmpdir(), "project-")));
      // Hardhat's own command creates the project. npm would need a network, so a script replaces it and links this
      // repository's packages.
      await mkdir(join(folder, "bin"));
      await writeFile(join(folder, "bin", "npm"), "#!/bin/sh\necho 11.0.0\n");
      await chmod(join(folder, "bin", "npm"), 0o755);
      const PATH = [join(folder, "bin"), process.env["PATH"]].join(delimiter);
      env = { ...environment({ PATH, TMPDIR: folder }), KEYROOT_STACK_FILE: undefined };
      const made = await outcomeOf(start(["--init", "--template", template]));
      expect(made.code, made.stderr).to.equal(0);
      await symlink(NODE_MODULES, join(folder, "node_modules"));
      await writeFile(join(folder, "users.jsonl"), [record, ...others].map(serializeKeyRecord).join("\n"));

      const path = join(folder, "hardhat.config.ts");
      const config = await readFile(path, "utf8");
      const network = `remote: { type: "http", url: configVariable("RPC_URL"), accounts: [configVariable("OWNER_KEY")] }`;
      const changed =
        template === "minimal"
          ? config
              .replace("{ defineConfig }", "{ configVariable, defineConfig }")
              .replace("defineConfig({", `defineConfig({\n  plugins: [keyroot],\n  networks: { ${network} },`)
          : config.replace("plugins: [", "plugins: [keyroot, ").replace("networks: {", `networks: { ${network},`);
      await writeFile(path, `import keyroot from "@keyroot/operator/hardhat";\n${changed}`);
    });
    after(() => rm(folder, { recursive: true }));

    it("adds all commands except demo", async () => {
      const { code, stdout } = await outcomeOf(start(["keyroot"]));
      expect(code).to.equal(0);
      const listed = Array.from(stdout.matchAll(/^ {2}keyroot (\S+)/gm), ([, name]) => name);
      expect(listed).to.include.members(["audit", "deploy", "publish", "stack", "verify", "watch"]);
      expect(listed).not.to.include("demo");
    });

    /** Sets a variable in Hardhat's development keystore. @returns the environment of commands that use the keystore */
    const setInKeystore = async (name: string, value: string) => {
      const home = join(folder, "home");
      const own = { HOME: home, XDG_CONFIG_HOME: join(home, "config"), XDG_DATA_HOME: join(home, "data") };
      const set = start(["keystore", "set", "--dev", name], own, hardhat);
      set.stdin.end(`${value}\n`);
      expect(await outcomeOf(set)).to.include({ code: 0, stderr: "" });
      return own;
    };
    // The minimal template has neither Hardhat's keystore nor a test runner.
    const hasKeystore = template === "mocha-ethers";

    it(`runs a stack for publish, verify and audit${hasKeystore ? " with a URL from the keystore" : ""}`, async () => {
      const stack = start(["keyroot", "stack", "--port", "0", "--json"]);
      const ended = once(stack, "exit");
      try {
        const [line] = (await once(createInterface({ input: stack.stdout }), "line")) as [string];
        const { rpcUrl, contract, merkleUrl } = JSON.parse(line) as StackFile;

        const published = await json(["publish", "--records", "users.jsonl"]);
        expect([published.code, published.json["users"]]).to.deep.equal([0, 3]);
        const target = ["--network", "remote", "--contract", contract, "--merkle-url", merkleUrl];
        // The network has a configuration variable that is not set.
        expect((await json(["status", ...target.slice(0, 4)], { OWNER_KEY })).json["error"]).to.include({
          code: "ARGUMENT_INVALID",
        });
        const remote = { OWNER_KEY, ...(hasKeystore ? await setInKeystore("RPC_URL", rpcUrl) : { RPC_URL: rpcUrl }) };
        const verified = await json(
          ["verify", record.userID, ...target, "--chain-id", "31337", "--trust", "own-node"],
          remote,
        );
        expect([verified.code, verified.json["verified"]]).to.deep.equal([0, true]);
        const audited = await json(["audit"]);
        expect([audited.code, audited.json["passed"]]).to.deep.equal([0, true]);
      } finally {
        stack.kill("SIGINT");
        await ended;
      }
      expect(await stackFoldersIn(folder)).to.be.empty;
    });

    if (template === "mocha-ethers") {
      it("starts a stack in the project's own tests", async () => {
        await writeFile(join(folder, "test", "app.ts"), OWN_TEST);
        const { code, stdout } = await outcomeOf(start(["test", "mocha", "test/app.ts", "--no-compile"]));
        expect([code, stdout.includes("2 passing")], stdout).to.deep.equal([0, true]);
        expect(await stackFoldersIn(folder)).to.be.empty;
      });
    }
  });
}
