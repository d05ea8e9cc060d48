import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { serializeKeyRecord } from "keyroot/internal/identity";
import type { StackFile } from "../../../packages/operator/src/commands/stackFile.ts";
import { PartnerClient } from "../../../packages/client/src/partner.ts";
import { UserClient } from "../../../packages/client/src/user.ts";
import { sampleKeyPairs, sampleRecords } from "../../support/samples.ts";
import { ENDLESS_MS } from "../../support/endless.ts";
import { never, temporaryFolder } from "../../support/support.ts";
import { testAll } from "../../support/testSize.ts";
import {
  environment,
  hardhat,
  interruptUntilEnd,
  npxHardhat,
  outcomeOf,
  program,
  type Running,
  signalGroup,
  stackFoldersIn,
  untilGroupIsGone,
} from "../../support/processes/commandLine.ts";

describe("npx hardhat keyroot stack", () => {
  const folder = temporaryFolder();
  let child: Running;
  /** The environment that sets where this stack writes its stack file and its Merkle-tree files. */
  let env: { KEYROOT_STACK_FILE: string; TMPDIR: string };
  beforeEach(() => {
    env = { KEYROOT_STACK_FILE: join(folder.path, "stack", "stack.json"), TMPDIR: folder.path };
  });
  afterEach(() => {
    signalGroup(child, "SIGKILL");
  });

  it("makes its key type the default of the commands that use it", async () => {
    child = npxHardhat.start(["stack", "--port", "0", "--json", "--key-type", "x25519"], env);
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    expect(JSON.parse(String(line))).to.have.property("keyType", "x25519");
    const records = join(folder.path, "users.jsonl");
    const sampled = await program.run(["sample-users", "--count", "1"], { env });
    await writeFile(records, sampled.stdout);
    const { userID, pubKey } = JSON.parse(sampled.stdout) as { userID: string; pubKey: string };
    expect(Buffer.from(pubKey, "base64")).to.have.length(32);
    expect((await program.run(["publish", "--records", records], { env })).code).to.equal(0);
    expect((await program.json(["verify", userID, "--expected-public-key", pubKey], { env })).code).to.equal(0);
    const typed = await program.run(["verify", userID, "--key-type", "curve41417"], { env });
    expect(typed.stderr).to.include("KEY_TYPE_MISMATCH");
    const configured = { ...env, KEYROOT_KEY_TYPE: "p256" };
    expect((await program.run(["verify", userID], { env: configured })).stderr).to.include("KEY_TYPE_MISMATCH");
  });

  it("says how to install the native package of the chain if it is missing", async () => {
    // With this variable, the package searches for its native code only there.
    child = npxHardhat.start(["stack", "--port", "0"], { ...env, NAPI_RS_NATIVE_LIBRARY_PATH: folder.path });
    const { code, stderr } = await outcomeOf(child);
    expect(code).to.equal(2);
    expect(stderr).to.match(/^PACKAGE_MISSING: .* run 'npm install' here without these options\.$/m);
  });

  it("can be used by the commands of keyroot and Hardhat", async () => {
    child = npxHardhat.start(["stack", "--port", "0", "--json"], env);
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const place = JSON.parse(String(line)) as Omit<StackFile, "pid"> & { serviceUrl: string };
    expect(place).to.have.all.keys(
      "rpcUrl",
      "merkleUrl",
      "filesDir",
      "contract",
      "chainId",
      "keyType",
      "beaconUrl",
      "checkpoint",
      "serviceUrl",
    );
    expect((await stat(place.filesDir)).isDirectory()).to.be.true;

    const records = join(folder.path, "users.jsonl");
    const [record = never()] = sampleRecords(1);
    await writeFile(records, serializeKeyRecord(record));
    const published = await program.jsonLines(["publish", "--records", records], { env });
    expect([published.code, published.json["contract"]]).to.deep.equal([0, place.contract]);
    expect(await readdir(place.filesDir)).to.have.lengthOf(1);
    const answers = await Promise.all([
      program.json(["verify", record.userID], { env }),
      program.json(["status"], { env }),
      program.json(["status", "--chain-id", "1"], { env }),
    ]);
    expect(answers.map(({ code }) => code)).to.deep.equal([0, 0, 1]);

    const { json: partner } = await program.json(["create-partner", "--name", "Acme"], { env });
    const bizID = String(partner["bizID"]);
    const { json: made } = await program.json(["create-server-token", "--biz-id", bizID, "--name", "one"], { env });
    const { serviceUrl } = place;
    await followUp(place, env);
    const client = new PartnerClient({ serviceUrl, bizID, serverToken: String(made["serverToken"]) });
    await client.createUser(record.userID, "eu-west-1");
    const refreshToken = await client.createUserRefreshToken(record.userID, "phone");
    const { chainId, contract } = place;
    const app = new UserClient({ serviceUrl, bizID, refreshToken, chainId, contract });
    const [keys = never()] = sampleKeyPairs;
    await app.register(keys);
    const { code, json } = await program.json(["publish-registered"], { env });
    expect([code, json["published"]]).to.deep.equal([0, 0], "this user's key is on the chain already");
    expect(await app.record()).to.include({ state: "published" });

    const rest = Promise.all([text(child.stdout), text(child.stderr)]);
    child.kill("SIGINT");
    expect(await once(child, "exit")).to.deep.equal([0, null]);
    expect(await rest).to.deep.equal(["", ""]);
    await untilGroupIsGone(child);
    expect(await stackFoldersIn(folder.path)).to.be.empty;
    expect(await readdir(join(folder.path, "stack"))).to.be.empty;
    expect(await program.json(["status"], { env })).to.have.property("code", 2);
  });

  /** Runs the command that create-partner prints, with a named service and without one. */
  async function followUp({ serviceUrl }: { serviceUrl: string }, env: NodeJS.ProcessEnv): Promise<void> {
    const { service } = JSON.parse(await readFile(env["KEYROOT_STACK_FILE"] ?? "", "utf8")) as StackFile;
    const named = { KEYROOT_ADMIN_TOKEN: service?.adminToken };
    for (const [keyroot, options, given] of [
      [program, [], env],
      [program, ["--service-url", serviceUrl], named],
      [hardhat, ["--service-url", serviceUrl], named],
    ] as const) {
      const { code, stdout } = await keyroot.run(["create-partner", "--name", "Acme", ...options], { env: given });
      const [, command = ""] = /^To create a token for the partner's server: (.*)$/m.exec(stdout) ?? [];
      expect([code, command.startsWith(`${keyroot.program} create-server-token --biz-id biz_`)]).to.deep.equal([
        0,
        true,
      ]);
      const words = command.slice(keyroot.program.length + 1).split(" ");
      expect(words.slice(3)).to.deep.equal(options);
      const { stdout: token } = await keyroot.run(words, { env: given });
      expect(token).to.match(/^krs_/);
    }
  }

  describe("after Ctrl-C", () => {
    /**
     * Starts a stack without a service and without the project's plugins, so that it starts quickly. It stops as the
     * commands do.
     */
    const stackProgram = `
      import { createHardhatRuntimeEnvironment } from "hardhat/hre";
      import { setTimeout as sleep } from "node:timers/promises";
      import { untilStopped } from "@keyroot/operator/commands";
      import { startStack } from "@keyroot/service/stack";
      const stopped = untilStopped();
      const hre = await createHardhatRuntimeEnvironment({});
      const stack = await startStack(hre, { ports: { chain: 0, files: 0 }, announce: true });
      console.log(stack.filesDir);
      await stopped;
      await sleep(Number(process.argv[1]));
      await stack.close();
    `;
    const start = async (root: string, slowness: number) => {
      const env = environment({ KEYROOT_STACK_FILE: join(root, "stack", "stack.json"), TMPDIR: root });
      const started = spawn(process.execPath, ["--input-type=module", "--eval", stackProgram, String(slowness)], {
        ...{ stdio: "pipe", detached: true, env },
      });
      await once(started.stdout, "data");
      expect(await readdir(join(root, "stack"))).to.deep.equal(["stack.json"]);
      return started;
    };
    const left = async (root: string) => [...(await stackFoldersIn(root)), ...(await readdir(join(root, "stack")))];

    // Each test starts a stack. `npm test` sends Ctrl-C only during the cleanup and at its end.
    for (const milliseconds of testAll ? [0, 1, 10, 50, 100, 200, 350, 500] : [10, 350]) {
      it(`leaves no files behind, even if npm repeats Ctrl-C after ${milliseconds} ms`, async () => {
        child = await start(folder.path, 300);
        const ended = once(child, "exit");
        signalGroup(child, "SIGINT");
        await sleep(milliseconds);
        // The signal may end the process while Node exits after the cleanup.
        signalGroup(child, "SIGINT");
        await ended;
        expect(await left(folder.path)).to.be.empty;
      });
    }

    it("leaves no files behind if a second Ctrl-C interrupts its cleanup", async () => {
      child = await start(folder.path, ENDLESS_MS);
      const ended = once(child, "exit");
      await interruptUntilEnd(child);
      expect(await ended).to.deep.equal([130, null]);
      expect(await left(folder.path)).to.be.empty;
    });
  });
});
