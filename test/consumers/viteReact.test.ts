import { expect } from "chai";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { Stack } from "@keyroot/service/stack";
import { ANY_KEY, createVerifier, oneEndpoint } from "keyroot";
import { accounts, parseAccount } from "keyroot/account";
import { launchChromium } from "../support/browser/chromium.ts";
import { startAccountStack, startExampleServer } from "../support/packages/exampleServer.ts";
import { installLocked } from "../support/packages/installLocked.ts";
import { packPackage, ROOT, run, unpackPackage } from "../support/packages/installPackages.ts";
import { publishedKey } from "../support/packages/publishedKey.ts";
import { sampleUserID } from "../support/samples.ts";
import { serve } from "../support/servers/servers.ts";
import { closedAfterEach } from "../support/support.ts";

const EXAMPLE = join(ROOT, "examples/vite-react");
/** The address of the app's server in the built page. The test forwards its requests to the real server. */
const SESSIONS = "http://127.0.0.1:8552";
const CORS = { "Access-Control-Allow-Origin": "*" };
const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript" };

describe("examples/vite-react, built with the packed library", () => {
  const closing = closedAfterEach();
  let folder: string;

  before("copies the example with its packages", async () => {
    const packages = ["keyroot", "client"];
    const tarballs = await Promise.all(packages.map(packPackage));
    const installed = await installLocked(EXAMPLE, "vite-react-example", "install", tarballs);
    for (const name of packages) await unpackPackage(name, installed);
    folder = await mkdtemp(join(tmpdir(), "keyroot-vite-react-"));
    await cp(EXAMPLE, folder, { recursive: true, filter: (path) => path !== join(EXAMPLE, "node_modules") });
    await symlink(join(installed, "node_modules"), join(folder, "node_modules"));
  });
  after(() => rm(folder, { recursive: true }));

  /** Builds the example for a stack. */
  const build = async (stack: Stack, addresses: Record<string, string> = {}) => {
    let text = await readFile(join(EXAMPLE, "src/config.ts"), "utf8");
    const all = {
      ...{ "http://127.0.0.1:8545": stack.rpcUrl, "http://127.0.0.1:8546": stack.merkleUrl },
      ...{ "0x5FbDB2315678afecb367f032d93F642f64180aa3": stack.contract, ...addresses },
    };
    for (const [example, address] of Object.entries(all)) text = text.replace(example, address);
    await writeFile(join(folder, "src/config.ts"), text);
    await run("npm", ["run", "build"], { cwd: folder });
  };
  /** Serves the built page. */
  const serveApp = async (contacts: () => object[] = () => []) =>
    closing(
      await serve(({ url = "" }, response) => {
        if (url === "/contacts.json") response.end(JSON.stringify(contacts()));
        else
          readFile(join(folder, "dist", url === "/" ? "index.html" : url)).then(
            (bytes) => response.setHeader("Content-Type", TYPES[extname(url)] ?? "text/html").end(bytes),
            () => response.writeHead(404).end(),
          );
      }),
    );

  it("makes a recovery sheet, registers the first key, and replaces it on a new phone", async () => {
    const { stack, admin, partner, variables } = closing(await startAccountStack());
    await build(stack, { "http://127.0.0.1:8552": SESSIONS });
    const sessions = closing(await startExampleServer(folder, variables));

    const app = await serveApp();
    const browser = closing(await launchChromium());
    const open = async (screen: string) => {
      const page = await (await browser.newContext()).newPage();
      await page.route(`${SESSIONS}/**`, async (route) => {
        const response = await fetch(route.request().url().replace(SESSIONS, sessions.url), { method: "POST" });
        await route.fulfill({ status: response.status, body: await response.text(), headers: CORS });
      });
      await page.goto(`${app.url}/#${screen}`);
      return page;
    };
    const phone = await open("sheet");
    await phone.getByRole("button", { name: "Make my recovery sheet" }).click();
    const sheet = await phone.getByLabel("Recovery sheet").inputValue();
    await phone.getByRole("button", { name: "I have printed it" }).click();
    await phone.getByText("Key 0 is pending.").waitFor();
    expect(await admin.publishRegistered()).to.have.lengthOf(1);

    const newPhone = await open("phone");
    await newPhone.getByLabel("Recovery sheet").fill(sheet);
    await newPhone.getByRole("button", { name: "Use this phone" }).click();
    await newPhone.getByText("Key 1 is pending.").waitFor();
    expect(await admin.publishRegistered()).to.have.lengthOf(1);
    const [text = ""] = sheet.split("\n\n");
    const { userID } = parseAccount(`${text}\n`);
    const { next_account_file: next } = await partner.accounts.get(userID);
    const { rpcUrl: rpc, chainId, contract, merkleUrl } = stack;
    const verifier = createVerifier({ rpc, chainId, contract, merkleUrl, trust: oneEndpoint(), accounts: accounts() });
    const verified = await verifier.verify(userID, { expectedPublicKey: ANY_KEY });
    expect(verified.account).to.deep.equal({ userID, number: 1 });
    expect(next).to.include(verified.record.pubKey);

    await newPhone.getByLabel("Recovery sheet").fill("no sheet");
    await newPhone.getByRole("button", { name: "Use this phone" }).click();
    await newPhone.getByText(/Error/).waitFor();
  });

  it("shows badges, an alarm for a swapped key, and the same badges offline with their time", async () => {
    const { stack, record, swapped } = await publishedKey();
    await build(stack);
    const published = { name: "Ada", userID: record.userID, publicKey: record.pubKey };
    const isNew = { name: "Bob", userID: sampleUserID(9), publicKey: swapped };
    let contacts = [published, isNew];
    const server = await serveApp(() => contacts);
    const browser = closing(await launchChromium());
    const page = await browser.newPage();
    await page.goto(server.url);
    const check = async (...expected: RegExp[]) => {
      await page.getByText("2 of 2 contacts are checked.").waitFor();
      const shown = await page.getByRole("listitem").allTextContents();
      expect(shown).to.have.lengthOf(expected.length);
      for (const [i, form] of expected.entries()) expect(shown[i]).to.match(form);
      return page.getByRole("alert").count();
    };
    const checkAgain = () => page.getByRole("button", { name: "Check again" }).click();
    expect(await check(/^Ada ✓ Verified$/, /^Bob Not confirmed yet\./)).to.equal(0);

    contacts = [{ ...published, publicKey: swapped }, isNew];
    await checkAgain();
    await page.getByRole("alert").waitFor();
    expect(await check(/^Ada Wrong key\./, /^Bob Not confirmed yet\./)).to.equal(1);

    contacts = [published, isNew];
    await checkAgain();
    await page.getByText("✓ Verified").waitFor();
    await page.context().setOffline(true);
    await checkAgain();
    await page.getByText(/✓ Verified on /).waitFor();
    expect(await check(/^Ada ✓ Verified on .*\d/, /^Bob No connection\./)).to.equal(0);
  });
});
