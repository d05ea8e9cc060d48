import { expect } from "chai";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Stack } from "@keyroot/service/stack";
import { ENDLESS_MS } from "../../support/endless.ts";
import { startAccountStack, startExampleServer } from "../../support/packages/exampleServer.ts";
import { installLocked } from "../../support/packages/installLocked.ts";
import { packPackage, ROOT, run, unpackPackage } from "../../support/packages/installPackages.ts";
import { publishedKey } from "../../support/packages/publishedKey.ts";
import { environment } from "../../support/processes/commandLine.ts";
import { serve } from "../../support/servers/servers.ts";
import { closedAfterEach } from "../../support/support.ts";

const EXAMPLE = join(ROOT, "examples/react-native");
const PACKAGES = ["keyroot", "client"];

describe("screens of examples/react-native", () => {
  const opened = new AsyncDisposableStack();
  const closing = closedAfterEach();
  let folder: string;

  before("copies the example with its packages", async () => {
    const installed = await installLocked(
      EXAMPLE,
      "react-native-example",
      "install",
      await Promise.all(PACKAGES.map(packPackage)),
    );
    for (const name of PACKAGES) await unpackPackage(name, installed);
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

  /** Writes the addresses of a stack and of the app's server into the example. */
  async function writeConfig({ rpcUrl, merkleUrl, contract }: Stack, serverUrl: string): Promise<void> {
    let config = await readFile(join(EXAMPLE, "config.js"), "utf8");
    const addresses = {
      ...{ "http://127.0.0.1:8545": rpcUrl, "http://127.0.0.1:8546": merkleUrl, "http://127.0.0.1:8552": serverUrl },
      "0x5FbDB2315678afecb367f032d93F642f64180aa3": contract,
    };
    for (const [example, address] of Object.entries(addresses)) {
      expect(config).to.contain(example);
      config = config.replace(example, address);
    }
    await writeFile(join(folder, "config.js"), config);
  }

  /** Runs a test of the folder `reactNative` in the example. @param settings the contents of its `settings.json` */
  async function runScreens(name: string, settings: object): Promise<string> {
    await writeFile(join(folder, "settings.json"), JSON.stringify({ ...settings, timeoutMs: ENDLESS_MS }));
    await cp(join(import.meta.dirname, "reactNative", name), join(folder, name.replace(".jsx", ".test.jsx")));
    return runJest(name.replace(".jsx", ".test.jsx"));
  }

  it("pass the example's tests", async () => {
    expect(await runJest("App.test.jsx")).to.match(/^Tests: +28 passed, 28 total$/m);
  });

  it("show an alarm and a warning for a swapped key", async () => {
    const { stack, record, swapped } = await publishedKey();
    const { userID, pubKey: publicKey } = record;
    const contact = { name: "Ada", userID, publicKey };
    const contacts = [contact, { name: "Swapped", userID, publicKey: swapped }];
    const server = closing(await serve((_, response) => response.end(JSON.stringify(contacts))));
    await writeConfig(stack, server.url);
    expect(await runScreens("screens.jsx", contact)).to.match(/^Tests: +1 passed, 1 total$/m);
  });

  it("replace the key of a lost phone on a stack with accounts", async () => {
    const { stack, admin, variables } = closing(await startAccountStack());
    const me = JSON.stringify(JSON.parse(await readFile(join(folder, "me.json"), "utf8")));
    await writeFile(join(folder, "users.jsonl"), me);
    const server = closing(await startExampleServer(folder, variables, "users.jsonl"));
    await writeConfig(stack, server.url);
    const publisher = closing(
      await serve((_, response) => {
        void admin.publishRegistered().then((published) => response.end(JSON.stringify(published)));
      }),
    );
    const settings = { publishUrl: publisher.url };
    expect(await runScreens("accountScreens.jsx", settings)).to.match(/^Tests: +1 passed, 1 total$/m);
  });
});
