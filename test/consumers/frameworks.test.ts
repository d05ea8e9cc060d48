import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { makeKeyRecord, randomUserID } from "keyroot/records";
import { generateKeyPair } from "keyroot/internal/identity";
import { openPage } from "../support/browser/openPage.ts";
import { publishLocally } from "../support/chain/local.ts";
import { describeIfNamed } from "../support/named.ts";
import { installPackages, run } from "../support/packages/installPackages.ts";
import { type PublishedKey, publishedKey } from "../support/packages/publishedKey.ts";
import { closedAfterEach, freePort } from "../support/support.ts";
import { JEST, NEXT, WEBPACK } from "./frameworkFiles.ts";
import { BROWSER_MAIN, checkProgram, expectedOutcome, inputOf } from "./programs.ts";
import { startWorker } from "./startWorker.ts";
import { type ConsumerTools, installTools, makeProject, writeFiles } from "./tools.ts";

describeIfNamed(import.meta.filename)("the packed library in frameworks", () => {
  const open = closedAfterEach();
  let tools: ConsumerTools;
  let key: PublishedKey;
  let check: string;

  before("installs the frameworks, and publishes a key", async () => {
    [tools, key, check] = await Promise.all([installTools(), publishedKey(), checkProgram("esm")]);
  });

  /** Creates a project whose packages are those of the app. */
  async function makeApp(name: string, files: Readonly<Record<string, string>>): Promise<string> {
    const folder = join(await installPackages("keyroot", "client"), name);
    await writeFiles(folder, files);
    return folder;
  }

  /** Starts a program that ends after the test. @returns the lines that it prints */
  function start(file: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) {
    const child = spawn(file, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] });
    open({
      close: async () => {
        if (child.exitCode !== null) return;
        child.kill();
        await once(child, "exit");
      },
    });
    return createInterface({ input: child.stdout });
  }

  describe("in workerd", () => {
    for (const [date, what] of [
      ["2024-09-23", "whose fetch rejects the cache field"],
      ["2026-11-17", "of today"],
    ] as const) {
      it(`verifies a key and creates the partner's client with a compatibility date ${what}`, async function () {
        if (tools.workerd === undefined) return this.skip(); // npm has workerd's binary only for some platforms.
        const main = `import { PartnerClient } from "@keyroot/client/partner";
import { check } from "./check.js";
const serverToken = "krs_" + "A".repeat(43);
const options = { serviceUrl: "https://keys.example", bizID: "biz_1", serverToken };
export default {
  async fetch(request, { INPUT }) {
    const { createUser } = new PartnerClient(options);
    return Response.json({ partner: typeof createUser, ...(await check(JSON.parse(INPUT))) });
  },
};
`;
        const files = { "check.js": check, "main.js": main };
        const cwd = await makeApp(`workerd-${date}`, files);
        const worker = open(await startWorker(tools.workerd, cwd, date, JSON.stringify(inputOf(key))));
        const response = await fetch(worker.url);
        expect(response.status, await response.clone().text()).to.equal(200);
        expect(await response.json()).to.deep.equal({ partner: "function", ...expectedOutcome(key) });
      });
    }
  });

  describe("in Next.js", () => {
    it("verifies a key at each request, and creates the partner's client in both server runtimes", async () => {
      const record = makeKeyRecord(randomUserID(), generateKeyPair().publicKey);
      const late = { ...inputOf(key), userID: record.userID, published: record.pubKey };
      const env = {
        ...{ NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" },
        ...{ KEYROOT_INPUT: JSON.stringify(inputOf(key)), KEYROOT_LATE: JSON.stringify(late) },
      };
      const cwd = await makeProject(tools, "next", { ...NEXT, "check.js": check });
      await run(process.execPath, [tools.next, "build"], { cwd, env: { ...process.env, ...env } }).catch(
        (error: unknown) => {
          const { stdout, stderr } = error as { stdout?: string; stderr?: string };
          throw new Error(`${stdout}\n${stderr}`, { cause: error });
        },
      );
      const port = await freePort();
      const lines = start(process.execPath, [tools.next, "start", "-p", String(port)], cwd, env);
      for await (const line of lines) if (line.includes("Ready")) break;
      const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();

      expect(JSON.parse(await get("/check"))).to.deep.equal(expectedOutcome(key));
      for (const runtime of ["node", "edge"]) expect(await get(`/partner/${runtime}`)).to.equal("function");
      expect(await get("/")).to.include("NOT_PUBLISHED");
      await publishLocally(key.stack, [record]);
      expect(await get("/")).to.include(record.pubKey);
    });
  });

  describe("in Jest with jsdom", () => {
    it("verifies a key, and accepts bytes of Node's realm", async () => {
      const env = {
        KEYROOT_INPUT: JSON.stringify(inputOf(key)),
        KEYROOT_EXPECTED: JSON.stringify(expectedOutcome(key)),
        KEYROOT_TOOLS: tools.folder,
      };
      const cwd = await makeApp("jest", { ...JEST, "check.js": check });
      const { stdout } = await run(process.execPath, [tools.jest, "--ci", "--json"], {
        cwd,
        env: { ...process.env, ...env, NODE_ENV: "test" },
      }).catch((error: unknown) => error as { stdout: string });
      const { testResults, numPassedTests, numTotalTests } = JSON.parse(stdout) as {
        testResults: { message: string }[];
        numPassedTests: number;
        numTotalTests: number;
      };
      expect(testResults.map(({ message }) => message).join("")).to.equal("");
      expect([numPassedTests, numTotalTests]).to.deep.equal([2, 2]);
    });
  });

  describe("in webpack", () => {
    it("verifies a key in Chromium, and reports a missing chunk as MODULE_UNAVAILABLE", async () => {
      const main = `${BROWSER_MAIN}globalThis.codeOf = (input) => check(input).catch(({ code, advice }) => [code, advice]);`;
      const cwd = await makeApp("webpack", { "build.cjs": WEBPACK, "check.js": check, "main.js": main });
      await run(process.execPath, ["build.cjs", tools.webpack], { cwd });
      const chunks = new Map<string, Uint8Array>();
      for (const name of await readdir(join(cwd, "dist"))) chunks.set(name, await readFile(join(cwd, "dist", name)));
      const entry = "main.js";
      expect(chunks.size).to.be.greaterThan(1);
      const page = open(
        await openPage({ chunks, entry }, [key.stack.rpcUrl, key.stack.merkleUrl], { trustedTypes: false }),
      );
      const input = JSON.stringify(inputOf(key));
      await page.reload();
      expect(await page.evaluate(`check(${input})`)).to.deep.equal(expectedOutcome(key));

      for (const name of chunks.keys()) if (name !== entry) chunks.delete(name);
      await page.reload();
      expect(await page.evaluate(`codeOf(${input})`)).to.deep.equal(["MODULE_UNAVAILABLE", "retry"]);
    });
  });
});
