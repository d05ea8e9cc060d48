import { expect } from "chai";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { trustOf } from "./trustOf.js";
import { createVerifier, type VerifierOptions } from "keyroot";
import { TEST_CHECKPOINT } from "@keyroot/operator/testing";
import { StatementHost, statementText } from "../../support/auditors/statementHost.ts";
import { signedBy, testAuditors } from "../../support/auditors/testAuditor.ts";
import { startEndpoint } from "../../support/chain/lyingEndpoint.ts";
import { installPackages, ROOT, run } from "../../support/packages/installPackages.ts";
import { bundleProgram, commandOf, ENGINES, installEngines } from "../../support/packages/phoneEngines.ts";
import { publishedKey, type PublishedKey } from "../../support/packages/publishedKey.ts";
import { phoneFetch } from "../../support/servers/phoneFetch.ts";
import { serve } from "../../support/servers/servers.ts";
import { closedAfterAll, never, rpc } from "../../support/support.ts";

/** The options of a verifier, with the name and settings of the trust. */
type PhoneOptions = Omit<VerifierOptions, "trust"> & { trust: readonly [string, ...unknown[]] };
/** A verification: its name, options, user and expected key. */
type Case = readonly [string, PhoneOptions, string, string];
type Answer = { status: number; url: string; headers: string; hex: string } | "endless";

describe("the keyroot package in the JavaScript engines of phones", () => {
  const open = closedAfterAll();
  const programs: Record<string, [string, ...string[]]> = {};
  const expected: Record<string, string> = {
    ...{ endpoint: "one-endpoint", quorum: "endpoints", pinned: "pinned-block", "own node": "own-node" },
    beacon: "light-client",
    ...{ auditors: "auditors", swapped: "KEY_MISMATCH" },
    ...{ "swapped for the beacon chain": "KEY_MISMATCH" },
    ...{ redirect: "REDIRECT_REFUSED", endless: "TIMEOUT", large: "ANSWER_TOO_LARGE" },
    "number above 2^63": "RPC_ANSWER_INVALID",
    generateKeyPair: "ENVIRONMENT_UNSUPPORTED",
  };

  before("records the answers of a real stack, and compiles the packed library", async () => {
    const key = await publishedKey();
    const cases = await casesOf(key, open);
    const table = await recordAnswers(cases);
    const data = `var table = ${JSON.stringify(table)}; var cases = ${JSON.stringify(cases)};`;
    const [app, tools] = await Promise.all([installPackages("keyroot"), installEngines()]);
    // The program's modules import the library from the folder that contains them.
    for (const name of ["phone.js", "trustOf.js"]) await cp(join(import.meta.dirname, name), join(app, name));
    const program = await bundleProgram('import "./phone.js";', app, tools);
    const folder = await mkdtemp(join(tmpdir(), "keyroot-engines-"));
    open({ close: () => rm(folder, { recursive: true }) });
    for (const engine of ENGINES)
      programs[engine] = await commandOf(engine, data, program, join(folder, `${engine}.js`), tools);
    const nativeApp = await bundleNativeApp(app, join(tools, "node_modules"));
    programs["native"] = await commandOf("JavaScriptCore", data, nativeApp, join(folder, "native.js"), tools);
  });

  for (const engine of ENGINES) {
    it(`accepts true answers and rejects false answers in ${engine}`, async () => {
      expect(await outcomesOf(engine)).to.deep.equal(expected);
    });
  }

  it("accepts true answers and rejects false answers in JavaScriptCore without fetch", async () => {
    const outcomes = await outcomesOf("native");
    expect(expected).to.include(outcomes);
    // The app does not import the modules for auditors and the beacon chain.
    const names = ["endpoint", "quorum", "pinned", "own node", "number above 2^63"];
    expect(outcomes).to.have.all.keys(...names, "swapped", "redirect", "endless", "large");
  });

  async function outcomesOf(name: string): Promise<object> {
    const [program = "", ...args] = programs[name] ?? [];
    const { stdout } = await run(program, args);
    return JSON.parse(stdout) as object;
  }
});

/** Returns the verifications. `open` closes their servers after the tests. */
async function casesOf(
  { stack, record, swapped }: PublishedKey,
  open: ReturnType<typeof closedAfterAll>,
): Promise<Case[]> {
  const { rpcUrl, merkleUrl, chainId, contract, beaconUrl } = stack;
  const options: PhoneOptions = { rpc: rpcUrl, merkleUrl, chainId, contract, trust: ["oneEndpoint"] };
  const start = async () => open(await startEndpoint(rpcUrl));
  const [lying = never(), ...endpoints] = await Promise.all([0, 1, 2, 3].map(start));
  // Hermes converts a BigInt of 2^63 or more to a negative number.
  lying.lie = async (method, params, truth) => {
    const answer = (await truth(method, params)) as string;
    return method === "eth_call" && answer.startsWith("0x0000") ? `0x${"fffffffffffffffb".padStart(64, "0")}` : answer;
  };
  const redirecting = open(
    await serve((request, response) => response.writeHead(308, { Location: `${merkleUrl}${request.url}` }).end()),
  );
  const head = (await rpc(rpcUrl, "eth_getBlockByNumber", ["latest", false])) as {
    hash: string;
    number: string;
    timestamp: string;
  };
  const auditors = testAuditors("a", "b");
  const statements = open(await StatementHost.start());
  const text = statementText({ chainId, contract }, head);
  statements.files.set("latest", signedBy(auditors, text));
  const policy = { keys: auditors.map(({ key }) => key), threshold: 2, urls: [statements.url], maxAgeMs: 3_600_000 };
  const audited: PhoneOptions = { ...options, trust: ["auditors", policy] };
  const beacon: PhoneOptions = {
    ...options,
    trust: ["lightClient", { urls: [beaconUrl ?? ""], checkpoint: TEST_CHECKPOINT }],
  };
  const cases: [string, PhoneOptions, string?][] = [
    ["endpoint", options],
    ["quorum", { ...options, rpc: endpoints.map(({ url }) => url), trust: ["endpoints", { required: 2 }] }],
    ["pinned", { ...options, trust: ["pinnedBlock", head.hash] }],
    ["own node", { ...options, trust: ["ownNode"] }],
    // This case is the first, because an earlier verification would accept the true key.
    ["swapped for the beacon chain", beacon, swapped],
    ["beacon", beacon],
    ["auditors", audited],
    ["swapped", options, swapped],
    ["number above 2^63", { ...options, rpc: lying.url }],
    ["redirect", { ...options, merkleUrl: redirecting.url }],
    ["endless", { ...options, merkleUrl: "https://endless.example", limits: { timeoutMs: 1000 } }],
    ["large", { ...options, limits: { fileBytes: 100 } }],
  ];
  return cases.map(([name, each, expectedKey = record.pubKey]) => [name, each, record.userID, expectedKey]);
}

/** Runs these verifications in Node. Returns the real servers' responses by URL and body. */
async function recordAnswers(cases: readonly Case[]): Promise<Record<string, Answer>> {
  const table: Record<string, Answer> = {};
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const name = `${input as string} ${(init?.body as string | undefined) ?? ""}`;
    if (name.startsWith("https://endless.example")) {
      table[name] = "endless";
      return new Promise(() => undefined);
    }
    const response = await phoneFetch(input, init);
    const bytes = await response.arrayBuffer();
    const headers = [...response.headers].map((pair) => pair.join(": ")).join("\r\n");
    table[name] = {
      ...{ status: response.status, url: response.url, headers },
      hex: Buffer.from(bytes).toString("hex"),
    };
    return response;
  };
  for (const [, options, userID, expectedPublicKey] of cases)
    await createVerifier({ ...options, trust: trustOf(options.trust), fetch })
      .verify(userID, { expectedPublicKey })
      .catch(() => undefined);
  return table;
}

/** Bundles examples/native-app and the packed library with the command in the example's package.json. */
async function bundleNativeApp(app: string, packages: string): Promise<string> {
  const cwd = join(app, "native-app");
  await cp(join(ROOT, "examples/native-app"), cwd, { recursive: true });
  const manifest = await readFile(join(cwd, "package.json"), "utf8");
  const [command = "", ...args] = (JSON.parse(manifest) as { scripts: { build: string } }).scripts.build.split(" ");
  const env = { ...process.env, NODE_PATH: packages };
  await run(join(ROOT, "node_modules/.bin", command), args, { cwd, env });
  const host = await readFile(join(import.meta.dirname, "nativeApp.js"), "utf8");
  return `${host}\n${await readFile(join(cwd, "keyroot.js"), "utf8")}\nrunCases();`;
}
