import { expect } from "chai";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { launchChromium } from "../support/browser/chromium.ts";
import { installLocked } from "../support/packages/installLocked.ts";
import { packPackage, ROOT, run, unpackPackage } from "../support/packages/installPackages.ts";
import { publishedKey } from "../support/packages/publishedKey.ts";
import { sampleUserID } from "../support/samples.ts";
import { serve } from "../support/servers/servers.ts";
import { closedAfterEach } from "../support/support.ts";

const EXAMPLE = join(ROOT, "examples/vite-react");
const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript" };

describe("examples/vite-react, built with the packed library", () => {
  const closing = closedAfterEach();

  it("shows badges, an alarm for a swapped key, and the same badges offline with their time", async () => {
    const { stack, record, swapped } = await publishedKey();
    const installed = await installLocked(EXAMPLE, "vite-react-example", "install", [await packPackage("keyroot")]);
    await unpackPackage("keyroot", installed);
    const folder = await mkdtemp(join(tmpdir(), "keyroot-vite-react-"));
    closing({ close: () => rm(folder, { recursive: true }) });
    await cp(EXAMPLE, folder, { recursive: true, filter: (path) => path !== join(EXAMPLE, "node_modules") });
    await run("cp", ["-RP", join(installed, "node_modules"), join(folder, "node_modules")]);
    const config = join(folder, "src/config.ts");
    let text = await readFile(config, "utf8");
    const addresses = {
      ...{ "http://127.0.0.1:8545": stack.rpcUrl, "http://127.0.0.1:8546": stack.merkleUrl },
      "0x5FbDB2315678afecb367f032d93F642f64180aa3": stack.contract,
    };
    for (const [example, address] of Object.entries(addresses)) text = text.replace(example, address);
    await writeFile(config, text);
    await run("npm", ["run", "build"], { cwd: folder });

    const published = { name: "Ada", userID: record.userID, publicKey: record.pubKey };
    const isNew = { name: "Bob", userID: sampleUserID(9), publicKey: swapped };
    let contacts = [published, isNew];
    const server = closing(
      await serve(({ url = "" }, response) => {
        if (url === "/contacts.json") response.end(JSON.stringify(contacts));
        else
          readFile(join(folder, "dist", url === "/" ? "index.html" : url)).then(
            (bytes) => response.setHeader("Content-Type", TYPES[extname(url)] ?? "text/html").end(bytes),
            () => response.writeHead(404).end(),
          );
      }),
    );
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
