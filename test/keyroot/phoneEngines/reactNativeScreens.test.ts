import { expect } from "chai";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENDLESS_MS } from "../../support/endless.ts";
import { installLocked } from "../../support/packages/installLocked.ts";
import { packPackage, ROOT, run, unpackPackage } from "../../support/packages/installPackages.ts";
import { publishedKey } from "../../support/packages/publishedKey.ts";
import { environment } from "../../support/processes/commandLine.ts";
import { serve } from "../../support/servers/servers.ts";

const EXAMPLE = join(ROOT, "examples/react-native");

describe("screens of examples/react-native", () => {
  const opened = new AsyncDisposableStack();
  let folder: string;

  before("copies the example with its packages", async () => {
    const installed = await installLocked(EXAMPLE, "react-native-example", "install", [await packPackage("keyroot")]);
    await unpackPackage("keyroot", installed);
    // Jest does not run or compile files below a node_modules folder.
    folder = await mkdtemp(join(tmpdir(), "keyroot-screens-"));
    opened.defer(() => rm(folder, { recursive: true }));
    const isOwn = (path: string) => path !== join(EXAMPLE, "node_modules");
    await cp(EXAMPLE, folder, { recursive: true, filter: isOwn });
    // The folder has 24,000 files, and `cp` is 20 times faster than Node's function.
    await run("cp", ["-RP", join(installed, "node_modules"), join(folder, "node_modules")]);
  });

  after(() => opened.disposeAsync());

  /** Runs a test file with the example's `npm test`. @returns Jest's summary */
  async function runJest(file: string): Promise<string> {
    const options = [`--testTimeout=${ENDLESS_MS}`, `--cacheDirectory=${join(folder, "cache")}`, "--runTestsByPath"];
    const { stderr } = await run("npm", ["test", "--", ...options, file], { cwd: folder, env: environment({}) });
    return stderr;
  }

  it("pass the example's tests", async () => {
    expect(await runJest("App.test.jsx")).to.match(/^Tests: +21 passed, 21 total$/m);
  });

  it("show an alarm and a warning for a swapped key", async () => {
    const { stack, record, swapped } = await publishedKey();
    const { userID, pubKey: publicKey } = record;
    const contact = { name: "Ada", userID, publicKey };
    const contacts = [contact, { name: "Swapped", userID, publicKey: swapped }];
    const server = await serve((_, response) => response.end(JSON.stringify(contacts)));
    opened.defer(() => server.close());
    const addresses = {
      ...{ "http://127.0.0.1:8545": stack.rpcUrl, "http://127.0.0.1:8546": stack.merkleUrl },
      ...{ "http://127.0.0.1:8551": server.url, "0x5FbDB2315678afecb367f032d93F642f64180aa3": stack.contract },
    };
    const file = join(folder, "config.js");
    let config = await readFile(file, "utf8");
    for (const [example, address] of Object.entries(addresses)) {
      expect(config).to.contain(example);
      config = config.replace(example, address);
    }
    await writeFile(file, config);
    await writeFile(join(folder, "contact.json"), JSON.stringify({ ...contact, timeoutMs: ENDLESS_MS }));
    await cp(join(import.meta.dirname, "reactNative/screens.jsx"), join(folder, "screens.test.jsx"));
    expect(await runJest("screens.test.jsx")).to.match(/^Tests: +1 passed, 1 total$/m);
  });
});
