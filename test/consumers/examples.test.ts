import { oneEndpoint } from "keyroot";
import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";
import { randomBytes } from "node:crypto";
import { launchChromium } from "../support/browser/chromium.ts";
import { ANY_KEY } from "../../packages/keyroot/src/identity/compareKey.ts";
import { parseKeyRecord } from "../../packages/keyroot/src/identity/keyRecord.ts";
import type { KeyRecord } from "../../packages/keyroot/src/identity/serializedRecord.ts";
import { generateKeyPair } from "../../packages/keyroot/src/identity/newPublicKey.ts";
import { UserClient } from "../../packages/client/src/user.ts";
import { createVerifier } from "../../packages/keyroot/src/createVerifier.ts";
import { environment } from "../support/processes/commandLine.ts";
import { describeIfNamed } from "../support/named.ts";
import { ROOT } from "../support/packages/installPackages.ts";
import { serve } from "../support/servers/servers.ts";
import { closedAfterEach } from "../support/support.ts";
import { newcomer } from "./newcomer.ts";

const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript" };

describeIfNamed(import.meta.filename)("examples, installed in an empty folder", () => {
  const closing = closedAfterEach();
  let records: KeyRecord[];

  before("installs the packages, starts a local system, and publishes keys", async () => {
    await newcomer.start();
    const commands = "npx keyroot sample-users --count 2 > users.jsonl; npx keyroot publish --records users.jsonl";
    await newcomer.runOrFail(commands);
    const lines = (await readFile(join(newcomer.folder, "users.jsonl"), "utf8")).trimEnd().split("\n");
    records = lines.map((line) => parseKeyRecord(line));
  });

  it("import only packages that the newcomer's folder contains", async () => {
    const folders = (await readdir(join(ROOT, "examples"), { withFileTypes: true })).filter((one) => one.isDirectory());
    const names = folders.filter(({ name }) => !["native-app", "python", "react-native", "vite-react"].includes(name));
    expect(names.map(({ name }) => name).sort()).to.deep.equal([
      "browser-app",
      "contract",
      "cron",
      "hardhat-project",
      "partner-backend",
    ]);
    const installed = JSON.parse(await readFile(join(newcomer.folder, "package.json"), "utf8")) as Record<
      string,
      object
    >;
    for (const { name } of names) {
      const manifest = JSON.parse(await readFile(join(ROOT, "examples", name, "package.json"), "utf8")) as Record<
        string,
        object
      >;
      const needed = Object.keys({ ...manifest["dependencies"], ...manifest["devDependencies"] });
      expect(installed["dependencies"], name).to.include.all.keys(needed);
    }
  });

  it("encrypt a message only to the published key: browser-app", async () => {
    const folder = await newcomer.copyExample("browser-app");
    const config = join(folder, "config.js");
    await writeFile(config, newcomer.withUrls(await readFile(config, "utf8")));
    await newcomer.runOrFail("npx vite build --logLevel error", { cwd: folder });
    const server = closing(
      await serve(({ url = "" }, response) => {
        const path = url === "/" ? "/index.html" : url;
        readFile(join(folder, "dist", path)).then(
          (bytes) => response.setHeader("Content-Type", TYPES[extname(path)] ?? "text/plain").end(bytes),
          () => response.writeHead(404).end(),
        );
      }),
    );
    const browser = closing(await launchChromium());
    const page = await browser.newPage();
    await page.goto(server.url);
    const [alice, bob] = records;
    const send = async (key = "") => {
      await page.getByLabel("User id").fill(alice?.userID ?? "");
      await page.getByLabel("Key from the server").fill(key);
      await page.getByLabel("Message").fill("Hello");
      await page.getByRole("button", { name: "Send" }).click();
      const status = page.getByRole("status").filter({ hasText: "ent" });
      await status.waitFor();
      return status.textContent();
    };
    expect(await send(alice?.pubKey)).to.equal("Sent: 5 characters, encrypted to a key of 105 bytes.");
    await page.reload();
    expect(await send(bob?.pubKey)).to.equal(
      "Not sent. Wrong key: This may not be your contact's key, so do not send anything and compare your safety codes.",
    );
  });

  it("create a user whose key can be published: partner-backend", async () => {
    const folder = await newcomer.copyExample("partner-backend");
    const { bizID } = JSON.parse(await newcomer.runOrFail("npx keyroot create-partner --name Acme --json")) as {
      bizID: string;
    };
    const created = await newcomer.runOrFail(`npx keyroot create-server-token --biz-id ${bizID} --json`);
    const { serverToken } = JSON.parse(created) as { serverToken: string };
    const serviceUrl = newcomer.stack.service.serviceUrl;
    const child = spawn(newcomer.node, ["server.js"], {
      ...{ cwd: folder, stdio: ["ignore", "pipe", "inherit"] },
      env: environment({
        ...{ SERVICE_URL: serviceUrl, BIZ_ID: bizID, SERVER_TOKEN: serverToken, PORT: "0" },
        USER_ID_SECRET: randomBytes(32).toString("hex"),
      }),
    });
    closing({ close: () => child.kill() });
    const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const addDevice = async (body: object) => {
      const response = await fetch(`${url}/devices`, { method: "POST", body: JSON.stringify(body) });
      return { status: response.status, body: (await response.json()) as Record<string, string> };
    };
    const phone = await addDevice({ account: "ada@example.com", device: "phone" });
    const laptop = await addDevice({ account: "ada@example.com", device: "laptop" });
    expect([phone.status, laptop.body["userID"]]).to.deep.equal([201, phone.body["userID"]]);
    expect(await addDevice({ account: "", device: "phone" })).to.deep.equal({
      status: 400,
      body: { error: "IDENTIFIER_INVALID" },
    });
    expect(await addDevice({ account: "ada@example.com" })).to.have.property("status", 400);

    const { rpcUrl: rpc, merkleUrl, chainId, contract } = newcomer.stack;
    const { userID = "", refreshToken = "" } = phone.body;
    const pair = generateKeyPair();
    await new UserClient({ serviceUrl, bizID, refreshToken, chainId, contract }).register(pair);
    await newcomer.runOrFail("npx keyroot publish-registered");
    const { publicKey } = await createVerifier({ rpc, merkleUrl, chainId, contract, trust: oneEndpoint() }).verify(
      userID,
      {
        expectedPublicKey: ANY_KEY,
      },
    );
    expect(publicKey).to.deep.equal(pair.publicKey);
  });

  it("pass their own tests: hardhat-project", async () => {
    const cwd = await newcomer.copyExample("hardhat-project");
    expect(await newcomer.runOrFail("npm test", { cwd })).to.contain("3 passing (3 mocha)");
  });

  it("pass their own tests: contract", async () => {
    const cwd = await newcomer.copyExample("contract");
    expect(await newcomer.runOrFail("npm test", { cwd })).to.contain("2 passing (2 solidity)");
  });

  it("print only failures of the publish and audit commands: cron", async () => {
    const cwd = await newcomer.copyExample("cron");
    await newcomer.runOrFail("npx keyroot sample-users --count 2 > users.jsonl", { cwd });
    for (let run = 0; run < 2; run++)
      expect(await newcomer.run("./publish-and-audit.sh users.jsonl", { cwd })).to.deep.equal({
        code: 0,
        stdout: "",
        stderr: "",
      });
    await writeFile(join(cwd, "bad.jsonl"), "x\n");
    const { code, stdout } = await newcomer.run("./publish-and-audit.sh bad.jsonl", { cwd });
    expect(code).to.equal(1);
    expect(stdout).to.contain("publish").and.to.contain("RECORDS_INVALID");

    // A key that differs from the published one must not stop the audits.
    const lines = (await readFile(join(cwd, "users.jsonl"), "utf8")).trimEnd().split("\n");
    const [one, two] = lines.map((line) => JSON.parse(line) as { userID: string });
    await writeFile(join(cwd, "swapped.jsonl"), JSON.stringify({ ...two, userID: one?.userID }));
    await rm(join(cwd, "audit.sqlite"));
    const differing = await newcomer.run("./publish-and-audit.sh swapped.jsonl", { cwd });
    expect(differing.code).to.equal(1);
    expect(differing.stdout).to.contain("KEY_DIFFERS");
    expect(existsSync(join(cwd, "audit.sqlite"))).to.equal(true);
  });
});
