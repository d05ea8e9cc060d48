import { expect } from "chai";
import hre from "hardhat";
import { execFile } from "node:child_process";
import { access, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { TEST_CHECKPOINT } from "@keyroot/operator/testing";
import type { KeyRecord } from "keyroot";
import { DEFAULT_LIMITS } from "keyroot/internal/transport";
import { type Stack, startStack } from "@keyroot/service/stack";
import { StatementHost, statementText } from "../support/auditors/statementHost.ts";
import { signedBy, testAuditors } from "../support/auditors/testAuditor.ts";
import type { BlockJson } from "../support/chain/fiveEndpoints.ts";
import { publishLocally } from "../support/chain/local.ts";
import { sampleRecords } from "../support/samples.ts";
import { type Endpoint, startEndpoint } from "../support/chain/lyingEndpoint.ts";
import { closedAfterAll, never, rpc, temporaryFolder } from "../support/support.ts";

const run = promisify(execFile);
const { root } = hre.config.paths;
const read = (path: string) => readFile(join(root, path), "utf8");
const pages = {
  "threat-model.md": await read("docs/threat-model.md"),
  "verifying.md": await read("docs/verifying.md"),
  "trust.md": await read("docs/trust.md"),
};
const programsOf = (page: string) => [...page.matchAll(/```js\n([^]*?)```/g)].map(([, lines = ""]) => lines);
const programOf = (page: string) => programsOf(page).join("\n");

describe("pages about verifying", () => {
  const [mine, other] = sampleRecords(2) as [KeyRecord, KeyRecord];
  const open = closedAfterAll();
  let stack: Stack;
  let endpoints: Endpoint[];
  let pinned: string;
  let statements: StatementHost;
  const auditors = testAuditors("a", "b", "c");
  const keys = auditors.map(({ key }) => key);
  const folder = temporaryFolder();

  before(async () => {
    stack = open(await startStack(hre, { ports: { chain: 0, files: 0, beacon: 0 } }));
    await publishLocally(stack, [mine, other]);
    endpoints = await Promise.all([1, 2, 3].map(async () => open(await startEndpoint(stack.rpcUrl))));
    const head = (await rpc(stack.rpcUrl, "eth_getBlockByNumber", ["latest", false])) as BlockJson;
    pinned = head.hash;
    statements = open(await StatementHost.start());
    const signed = signedBy(auditors.slice(1), statementText(stack, head));
    statements.files.set("latest", signed);
  });

  beforeEach("the programs find the packages", () =>
    symlink(join(root, "node_modules"), join(folder.path, "node_modules")),
  );

  /** Calls the page's `verifiedKey` function, which must return the key. */
  const callVerifiedKey = `if (Buffer.from(await verifiedKey("${mine.userID}", "${mine.pubKey}")).toString("base64") !== "${mine.pubKey}") throw new Error("It returned a different key.");`;
  /** Runs a page's program with the stack's addresses, and returns the output. @param args the program's arguments */
  const runProgram = async (page: string, report = "", args: readonly string[] = []) => {
    const addresses: [string | RegExp, string][] = [
      [/http:\/\/127\.0\.0\.1:8545/g, stack.rpcUrl],
      [/https:\/\/files\.example|http:\/\/127\.0\.0\.1:8546/g, stack.merkleUrl],
      [/0x5FbDB2315678afecb367f032d93F642f64180aa3/g, stack.contract],
      [/chainId: (?:1|8453),/g, `chainId: ${stack.chainId},`],
      ['pinnedBlock("0x…")', `pinnedBlock("${pinned}")`],
      [/\["alice\.example\+…"[^\]]*\]/g, JSON.stringify(keys)],
      [/\["https:\/\/alice\.example\/statements"[^\]]*\]/g, JSON.stringify([statements.url])],
      [/https:\/\/(?:other-)?beacon\.example/g, stack.beaconUrl ?? never()],
      [/https:\/\/rpc\.example/g, stack.rpcUrl],
      [/0x2e522016\w+/g, TEST_CHECKPOINT],
      ['fileStore("light-client")', `fileStore(${JSON.stringify(join(folder.path, "light-client"))})`],
      // Only browsers have this store.
      ["indexedDbStore()", "new Map()"],
    ];
    const urls = endpoints.map(({ url }) => url);
    let program = page.replace(/https:\/\/rpc-[abc]\.example/g, () => urls.shift() ?? "");
    for (const [pattern, address] of addresses) program = program.replaceAll(pattern, address);
    const file = join(folder.path, "program.mjs");
    await writeFile(file, `${program}\n${report}`);
    const { stdout } = await run(process.execPath, [file, ...args], { cwd: root });
    return stdout;
  };

  it("contain a working example of a warning about a false key", async () => {
    const callWithFalseKey = `await verifiedKey("${mine.userID}", "${other.pubKey}").catch(({ code }) => console.log(code));`;
    const output = await runProgram(programOf(pages["threat-model.md"]), `${callVerifiedKey}\n${callWithFalseKey}`);
    expect(output).to.match(/^KEY_MISMATCH .+\nKEY_MISMATCH\n$/);
  });

  it("contain working examples for a key, a list and a bundle", async () => {
    const report = `console.log(Buffer.from(publicKey).toString("base64"), evidence.source, verified.uniqueness);`;
    const output = await runProgram(programOf(pages["verifying.md"]), report);
    const userIDs = [mine.userID, "y".repeat(32)];
    const contacts = [`${mine.userID} verified`, `${"y".repeat(32)} NOT_PUBLISHED`];
    const last = `${mine.pubKey} one-endpoint unchecked`;
    const lines = output.trim().split("\n");
    // The outcomes become known in any order.
    const progress = lines.splice(0, userIDs.length).toSorted();
    expect(progress).to.deep.equal(userIDs.map((userID, i) => `${i + 1}: ${userID}`));
    expect(lines).to.deep.equal([...contacts, last]);
  });

  const forPublicChains = programsOf(pages["trust.md"]).filter((one) => /^\/\/ \w+\.mjs\n/.test(one));
  for (const [file, output] of Object.entries({
    "mainnet.mjs": /^light-client \d+ 512\n$/,
    "rollup.mjs": /^endpoints [23]\n$/,
  }))
    it(`contain the working example ${file}`, async () => {
      const [program = never()] = forPublicChains.filter((one) => one.startsWith(`// ${file}\n`));
      expect(await runProgram(program, "", [mine.userID, mine.pubKey])).to.match(output);
    });

  it("contain only tested examples for public chains", () => {
    expect(forPublicChains).to.have.lengthOf(2);
  });

  it("contain working examples of block proofs, a simulated beacon and auditors", async () => {
    const others = programsOf(pages["trust.md"]).filter((one) => !forPublicChains.includes(one));
    const [offline = "", simulated = "", audited = "", ...rest] = others;
    expect(rest).to.deep.equal([]);
    const verify = `const { evidence } = await verifyOffline(await prove("${mine.userID}"), "${mine.userID}", "${mine.pubKey}");
      console.log(evidence.source);`;
    expect(await runProgram(offline, verify)).to.equal("pinned-block\n");
    const report = `const { makeBlockProof } = await import("keyroot/light-client");
      const { details } = await makeBlockProof({ urls: [url], checkpoint: simulated.checkpoint, chainId: ${stack.chainId} });
      console.log(details.participation);
      process.exit();`;
    expect(await runProgram(simulated, report)).to.equal("512\n");
    const verifyAudited = `const { createVerifier } = await import("keyroot");
      const place = { chainId: 1, contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3" };
      const hosts = { rpc: "http://127.0.0.1:8545", merkleUrl: "http://127.0.0.1:8546" };
      const { evidence } = await createVerifier({ ...place, ...hosts, trust }).verify("${mine.userID}", { expectedPublicKey: "${mine.pubKey}" });
      console.log(evidence.source, evidence.details.auditors.length);`;
    expect(await runProgram(`${audited}\n${verifyAudited}`)).to.equal("auditors 2\n");
  });

  it("contain a working example of a cache", async () => {
    const output = await runProgram(programOf(await read("docs/cache.md")));
    expect(output).to.match(/^verified undefined\nverified \d+\n$/);
  });

  it("contain a working example of an app for phones", async () => {
    const [phone = ""] = programsOf(await read("docs/platforms.md"));
    expect(await runProgram(phone, callVerifiedKey)).to.equal("");
  });

  it("contain a working example of a safety code", async () => {
    const output = await runProgram(programOf(await read("docs/safety-code.md")));
    expect(output).to.match(/^(?:\d{5} ){11}\d{5}\n$/);
  });

  it("contain working examples of a watch", async () => {
    const [wrong] = sampleRecords(3).slice(2) as [KeyRecord];
    const file = join(folder.path, "alarm.json");
    const [watching = "", evidence = ""] = programsOf(await read("docs/watching.md"));
    const watch = watching
      .replace("chainId: 31337", `chainId: ${stack.chainId}`)
      .replace(other.pubKey, wrong.pubKey)
      .replace("indexedDbStore()", "new Map()")
      .replace(
        "console.warn(code, message, file.name)",
        `(console.log(code), writeFileSync(${JSON.stringify(file)}, file.text))`,
      );
    const imports = `import { writeFileSync } from "node:fs";\n`;
    expect(await runProgram(imports + watch, "await watch.check();\nprocess.exit();")).to.equal(
      "CONTACT_KEY_MISMATCH\n",
    );
    const verify = evidence.replace('"alarm.json"', JSON.stringify(file));
    expect(await runProgram(verify)).to.equal(`${other.pubKey}\n`);
  });

  it("name only existing files", async () => {
    const paths = Object.values(pages).flatMap((page) =>
      [...page.matchAll(/`((?:test|packages)\/[^` ]+\.ts)`/g)].map(([, path = ""]) => path),
    );
    expect(paths).to.include("test/keyroot/verifier/lies.test.ts");
    const guide = pages["verifying.md"].split("\n## How a verification runs\n")[1] ?? "";
    const sources = [...guide.matchAll(/`(\w+\.ts)`/g)].map(([, name]) => `packages/keyroot/src/verifier/${name}`);
    expect(sources).not.to.be.empty;
    for (const path of [...paths, ...sources]) await access(join(root, path));
  });

  it("list every option with its default value", async () => {
    const source = await read("packages/keyroot/src/verifier/options.ts");
    const options = ["VerifierOptions", "KeyOptions"].flatMap((type) => {
      const [, body = ""] = new RegExp(`export interface ${type} \\{([^]*?)\n\\}`).exec(source) ?? [];
      return [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, name = ""]) => name);
    });
    expect(options).to.include.members(["trust", "limits", "signal"]);
    const limits = Object.keys(DEFAULT_LIMITS).map((name) => `limits.${name}`);
    const table = pages["verifying.md"].split("## Options")[1] ?? "";
    const listed = [...table.matchAll(/^\| `([\w.]+)` +\|/gm)].map(([, name]) => name);
    expect(listed).to.have.members([...options.filter((name) => name !== "limits"), ...limits, "onOutcome"]);
    expect(DEFAULT_LIMITS).to.deep.equal({ fileBytes: 16 * 2 ** 20, timeoutMs: 30_000 });
  });
});
