import { expect } from "chai";
import { spawn, spawnSync } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import hre from "hardhat";
import { AdminClient } from "@keyroot/client/operator";
import { PartnerClient } from "@keyroot/client/partner";
import { userIDToHex } from "keyroot";
import { x25519 } from "keyroot/key-types";
import { type Stack, startStack } from "../../../packages/service/src/stack/startStack.ts";
import { outcomeOf } from "../../support/processes/commandLine.ts";
import { freePort, never } from "../../support/support.ts";

const ROOT = join(import.meta.dirname, "../../..");
const EXAMPLE = join(ROOT, "examples/python");
const SECOND_VERIFIER = join(ROOT, "scripts/secondVerifier/verifier.mjs");

describe("examples/python", () => {
  let stack: Stack;
  let partner: PartnerClient;
  let env: Record<string, string>;
  let admin: AdminClient;
  let folder: string;
  let registered: { userID: string; publicKey: string };

  /** Runs a program of the example. */
  async function run(program: string, args: readonly string[] = [], changes: Record<string, string> = {}) {
    const variables = { PATH: process.env["PATH"], PYTHONDONTWRITEBYTECODE: "1", ...env, ...changes };
    return outcomeOf(spawn("python3", [join(EXAMPLE, program), ...args], { env: variables }));
  }

  before("starts a stack with X25519 keys, and registers and publishes a key with the example's programs", async () => {
    stack = await startStack(hre, { ports: { chain: 0, files: 0, service: 0 }, keyType: "x25519" });
    const { serviceUrl, adminToken } = stack.service ?? never();
    admin = new AdminClient({ serviceUrl, adminToken });
    const { biz_id: bizID } = await admin.createPartner("A company");
    const { token: serverToken } = await admin.createServerToken(bizID);
    partner = new PartnerClient({ serviceUrl, bizID, serverToken, keyType: x25519 });
    env = {
      ...{ SERVICE_URL: serviceUrl, BIZ_ID: bizID, SERVER_TOKEN: serverToken },
      ...{
        RPC_URL: stack.rpcUrl,
        CHAIN_ID: String(stack.chainId),
        CONTRACT: stack.contract,
        MERKLE_URL: stack.merkleUrl,
      },
    };
    folder = await mkdtemp(join(tmpdir(), "keyroot-python-"));
    const users = [await register(), await register(), await register()];
    registered = users[0] ?? never();
    await admin.publishRegistered();
  });

  after(async () => {
    await stack.close();
    await rm(folder, { recursive: true });
  });

  async function register() {
    const created = await run("provision.py");
    expect(created.code, created.stderr).to.equal(0);
    const { userID, refreshToken } = JSON.parse(created.stdout) as { userID: string; refreshToken: string };
    const keyFile = join(folder, userID);
    const outcome = await run("register.py", [keyFile], { USER_ID: userID, REFRESH_TOKEN: refreshToken });
    expect(outcome.code, outcome.stderr).to.equal(0);
    // Only the file has the private key, with which the command can be repeated.
    expect((await stat(keyFile)).mode & 0o777).to.equal(0o600);
    expect(outcome.stdout).not.to.include(await readFile(keyFile, "utf8"));
    const repeated = await run("register.py", [keyFile], { USER_ID: userID, REFRESH_TOKEN: refreshToken });
    expect([repeated.code, repeated.stdout]).to.deep.equal([0, outcome.stdout]);
    const { state, publicKey } = JSON.parse(outcome.stdout) as { state: string; publicKey: string };
    expect(state).to.equal("pending");
    return { userID, publicKey };
  }

  it("creates users and registers their keys with proof of possession", async () => {
    const { userID, publicKey } = registered;
    const found = await partner.publicKeyOf(userID);
    expect(found).to.include({ public_key: publicKey, possession: "proven", state: "published" });
  });

  it("verifies a live key, and rejects another key, an unpublished user and another chain", async () => {
    const { userID, publicKey } = registered;
    const verified = await run("verify_key.py", [userID, publicKey]);
    expect([verified.code, verified.stdout, verified.stderr]).to.deep.equal([0, `${publicKey}\n`, ""]);
    const other = await run("verify_key.py", [userID, `${"A".repeat(42)}I=`.slice(0, 44)]);
    expect([other.code, other.stderr]).to.deep.equal([
      1,
      `${userID} is not verified: the service gave another key than the published one\n`,
    ]);
    const unpublished = await run("verify_key.py", ["y".repeat(32)]);
    expect(unpublished.stderr).to.include("has no published key");
    expect((await run("verify_key.py", [userID], { CHAIN_ID: "1" })).stderr).to.include("chain is 31337, not 1");
    const nowhere = { CONTRACT: `0x${"11".repeat(20)}` };
    expect((await run("verify_key.py", [userID], nowhere)).stderr).to.include("not a registry");
    const unreachable = await run("verify_key.py", [userID], { RPC_URL: "http://127.0.0.1:1" });
    expect(unreachable.stderr).to.include("not verified yet").and.not.to.include("Traceback");
  });

  it("agrees with the second verifier about the published file", async () => {
    const [name = ""] = (await readdir(stack.filesDir, { recursive: true })).filter((path) =>
      /(?:^|\/)[0-9a-f]{64}\.json$/.test(path),
    );
    const file = join(stack.filesDir, name);
    const text = await readFile(file, "utf8");
    const { lookup, values } = JSON.parse(text) as { lookup: Record<string, number>; values: string[] };
    const { userID, publicKey } = registered;
    const index = lookup[userID] ?? never();
    const record = JSON.parse(values[index] ?? never()) as unknown;
    const question = { userID, root: basename(file, ".json"), keyType: "x25519" };
    const changed = text.replace(
      publicKey,
      publicKey.replace(/^./, (first) => (first === "A" ? "B" : "A")),
    );
    const verdict = { verified: { index, record } };
    const vectors = [text, changed].map((input) => ({
      name: "file",
      about: "",
      question,
      input: { text: input },
      verdict,
    }));
    const set = JSON.stringify({ format: "keyroot-vectors-v1", kind: "merkle-file", about: "", vectors });
    const second = spawnSync(process.execPath, [SECOND_VERIFIER, "-"], { input: set, encoding: "utf8" });
    expect(second.stdout).to.match(/^agree file\nDISAGREE file/);
    const checked = await run("check_file.py", [file, userID]);
    expect([checked.code, checked.stdout]).to.deep.equal([0, `${publicKey}\n`]);
  });

  it("gives no proof for a service, chain or contract other than the app's own", async () => {
    const hex = userIDToHex("b".repeat(32));
    await partner.createUser(hex, "us-west-2");
    const REFRESH_TOKEN = await partner.createUserRefreshToken(hex, "phone");
    for (const change of [{ CHAIN_ID: "5" }, { CONTRACT: `0x${"12".repeat(20)}` }, { USER_ID: "y".repeat(32) }]) {
      const keyFile = join(folder, "unused");
      const outcome = await run("register.py", [keyFile], { USER_ID: "b".repeat(32), REFRESH_TOKEN, ...change });
      expect([outcome.code, outcome.stdout]).to.deep.equal([1, ""]);
      expect(outcome.stderr).to.include("this app is configured for");
    }
    expect(await partner.publicKeyOf(hex)).to.include({ state: "unregistered" });
  });

  it("computes X25519 as RFC 7748 requires", async () => {
    const { code, stderr } = await run("test_x25519.py");
    expect([code, stderr.includes("Ran 3 tests")]).to.deep.equal([0, true]);
  });

  it("prints each signed event once, and refuses other requests", async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const variables = { PATH: process.env["PATH"], PYTHONDONTWRITEBYTECODE: "1", WEBHOOK_SECRET: secret, PORT: "0" };
    const child = spawn("python3", [join(EXAMPLE, "receive_events.py")], { env: variables });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    try {
      const { value: url } = (await lines.next()) as { value: string };
      const send = async (change: { secret?: number; seconds?: number; text?: string } = {}, id = randomUUID()) => {
        const body = JSON.stringify({ type: "user.created", at: 1, id, data: { user_id: "y".repeat(32) } });
        const timestamp = Math.floor(Date.now() / 1000) + (change.seconds ?? 0);
        const key = Buffer.alloc(32, change.secret ?? 7);
        const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
        const headers = {
          ...{ "webhook-id": id, "webhook-timestamp": String(timestamp) },
          "webhook-signature": `v1,${"A".repeat(43)}= v1,${signature}`,
        };
        return (await fetch(url, { method: "POST", headers, body: change.text ?? body })).status;
      };
      expect(await send({ secret: 8 })).to.equal(400);
      expect(await send({ seconds: -301 })).to.equal(400);
      expect(await send({ seconds: 302 })).to.equal(400);
      expect(await send({ text: "{}" })).to.equal(400);
      expect((await fetch(url, { method: "POST" })).status).to.equal(400);
      const [first, second] = [randomUUID(), randomUUID()];
      for (const id of [first, first, second]) expect(await send({}, id)).to.equal(204);
      const printed = [(await lines.next()).value, (await lines.next()).value] as string[];
      expect(printed).to.deep.equal(Array<string>(2).fill(`user.created {"user_id": "${"y".repeat(32)}"}`));
    } finally {
      child.kill();
      await once(child, "exit");
    }
  });

  it("receives the events that the service sends", async () => {
    const port = await freePort();
    const { secret } = await partner.webhooks.create(`http://127.0.0.1:${port}/`);
    const variables = {
      PATH: process.env["PATH"],
      PYTHONDONTWRITEBYTECODE: "1",
      WEBHOOK_SECRET: secret,
      PORT: String(port),
    };
    const child = spawn("python3", [join(EXAMPLE, "receive_events.py")], { env: variables });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    try {
      await lines.next();
      const created = await partner.createUser(userIDToHex("n".repeat(32)), "us-west-2");
      const { value } = (await lines.next()) as { value: string };
      expect(value).to.equal(`user.created {"user_id": "${created.user_id}", "region": "us-west-2"}`);
    } finally {
      child.kill();
      await once(child, "exit");
    }
  });
});
