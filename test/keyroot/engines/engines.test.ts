import { expect } from "chai";
import { build } from "esbuild";
import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import "keyroot/auditors";
import { serializeStatement } from "keyroot/auditors/protocol";
import { createVerifier, type VerifierOptions } from "../../../packages/keyroot/src/verifier/createVerifier.ts";
import { StatementHost } from "../../support/auditors/statementHost.ts";
import { signedBy, TestAuditor } from "../../support/auditors/testAuditor.ts";
import { startEndpoint } from "../../support/chain/lyingEndpoint.ts";
import { installLocked } from "../../support/packages/installLocked.ts";
import { installPackages, run } from "../../support/packages/installPackages.ts";
import { publishKey, type PublishedKey } from "../../support/packages/publishedKey.ts";
import { phoneFetch } from "../../support/servers/phoneFetch.ts";
import { serve } from "../../support/servers/servers.ts";
import { rpc } from "../../support/support.ts";

/** A verification: its name, options, user and expected key. */
type Case = readonly [string, VerifierOptions, string, string];
type Answer = { status: number; url: string; headers: string; hex: string } | "endless";
type Transform = (code: string, options: object) => Promise<{ code: string }>;

const JSC = "/usr/bin/jsc";
/**
 * The console and the timers. React Native adds them to each engine, but these shells do not have them. The shells run
 * timers immediately. These timers run in the order of their delays, without waiting.
 */
const HOST = `var self = globalThis;
if (!self.console) self.console = { assert() {}, warn() {} };
(function (soon) {
  var timers = [], clock = 0;
  self.setTimeout = function (work, ms) {
    var timer = { work: work, at: clock + (ms || 0) };
    timers.push(timer);
    soon(runNext, 0);
    return timer;
  };
  self.clearTimeout = function (timer) {
    timers = timers.filter(function (other) { return other !== timer; });
  };
  function runNext() {
    if (timers.length === 0) return;
    var next = timers.reduce(function (a, b) { return b.at < a.at ? b : a; });
    self.clearTimeout(next);
    clock = next.at;
    next.work();
  }
})(self.setTimeout);`;
/** The Babel transforms that are left out, because the engine supports this syntax itself. */
const KEPT = [
  ...["transform-exponentiation-operator", "transform-typeof-symbol", "transform-regenerator"],
  ...["transform-unicode-regex", "transform-unicode-property-regex", "transform-named-capturing-groups-regex"],
  ...["transform-dotall-regex", "transform-sticky-regex"],
];

describe("the package keyroot, in the engines of phones, with React Native's fetch", () => {
  const opened = new AsyncDisposableStack();
  const programs: Record<string, string[]> = {};
  const expected: Record<string, string> = {
    ...{ endpoint: "endpoint", quorum: "quorum", pinned: "pinned", auditors: "auditors", swapped: "KEY_MISMATCH" },
    ...{ redirect: "REDIRECT_REFUSED", endless: "TIMEOUT", large: "ANSWER_TOO_LARGE" },
    generateKeyPair: "ENVIRONMENT_UNSUPPORTED",
  };

  before("records the answers of a real stack, and compiles the packed library", async () => {
    const key = await publishKey();
    opened.defer(() => key.stack.close());
    const cases = await casesOf(key, opened);
    const table = await recordAnswers(cases);
    const data = `${HOST} var table = ${JSON.stringify(table)}; var cases = ${JSON.stringify(cases)};\n`;
    const [app, tools] = await Promise.all([installPackages("keyroot"), installLocked(import.meta.dirname, "engines")]);
    const program = await bundleProgram(app, join(tools, "node_modules"));
    const folder = await mkdtemp(join(tmpdir(), "keyroot-engines-"));
    opened.defer(() => rm(folder, { recursive: true }));
    const plain = join(folder, "plain.js");
    const compiled = join(folder, "compiled.js");
    await writeFile(plain, data + program);
    await writeFile(compiled, data + (await compile(tools, program)));
    const platform = { linux: "linux64", darwin: "osx", win32: "win64" }[process.platform as "linux"];
    programs["Hermes"] = [
      join(tools, `node_modules/hermes-engine-cli/${platform}-bin/hermes`),
      "-w",
      "-Xmicrotask-queue",
      compiled,
    ];
    programs["JavaScriptCore"] = [JSC, plain];
  });

  after(() => opened.disposeAsync());

  for (const engine of ["Hermes", "JavaScriptCore"]) {
    it(`verifies a key with each block source, and refuses a swapped key, a redirect and an endless response: ${engine}`, async () => {
      const [program = "", ...args] = programs[engine] ?? [];
      await access(program).catch((cause: unknown) => {
        throw new Error(`${program} is missing. Debian: apt-get install libjavascriptcoregtk-4.0-bin`, { cause });
      });
      const { stdout } = await run(program, args);
      expect(JSON.parse(stdout)).to.deep.equal(expected);
    });
  }
});

/** Returns the verifications. Their servers are added to `opened`, which closes them. */
async function casesOf({ stack, record, swapped }: PublishedKey, opened: AsyncDisposableStack): Promise<Case[]> {
  const { rpcUrl, merkleUrl, chainId, contract } = stack;
  const options = { rpc: rpcUrl, merkleUrl, chainId, contract };
  const endpoints = await Promise.all([1, 2, 3].map(() => startEndpoint(rpcUrl)));
  for (const endpoint of endpoints) opened.defer(() => endpoint.close());
  const redirecting = await serve((request, response) => {
    response.writeHead(308, { Location: `${merkleUrl}${request.url}` }).end();
  });
  opened.defer(() => redirecting.close());
  const head = (await rpc(rpcUrl, "eth_getBlockByNumber", ["latest", false])) as { hash: string; number: string };
  const auditors = ["a.example", "b.example"].map((name) => new TestAuditor(name));
  const statements = await StatementHost.start();
  opened.defer(() => statements.close());
  const text = serializeStatement({
    ...{ chainId, contract: contract.toLowerCase(), userCount: 1, tree: { size: 1, hash: "ab".repeat(32) } },
    block: { number: Number(head.number), hash: head.hash },
  });
  statements.files.set("latest", signedBy(auditors, text, Math.floor(Date.now() / 1000)));
  const policy = { keys: auditors.map(({ key }) => key), threshold: 2, urls: [statements.url], maxAgeMs: 3_600_000 };
  const cases: [string, VerifierOptions, string?][] = [
    ["endpoint", options],
    ["quorum", { ...options, rpc: endpoints.map(({ url }) => url), quorum: 2 }],
    ["pinned", { ...options, pinned: head.hash, storageProof: true }],
    ["auditors", { ...options, auditors: policy }],
    ["swapped", options, swapped],
    ["redirect", { ...options, merkleUrl: redirecting.url }],
    ["endless", { ...options, merkleUrl: "https://endless.example", limits: { timeoutMs: 1000 } }],
    ["large", { ...options, limits: { fileBytes: 100 } }],
  ];
  return cases.map(([name, each, expectedKey = record.pubKey]) => [name, each, record.userID, expectedKey]);
}

/** Returns the responses of the real servers to these verifications in Node, by URL and body. */
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
    await createVerifier({ ...options, fetch })
      .verify(userID, { expectedPublicKey })
      .catch(() => undefined);
  return table;
}

/** Bundles the program and the packed library in one file of ES2020. */
async function bundleProgram(app: string, packages: string): Promise<string> {
  const contents = await readFile(join(import.meta.dirname, "phone.js"), "utf8");
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: app },
    ...{ bundle: true, write: false, format: "iife", target: "es2020", nodePaths: [packages] },
  });
  return outputFiles[0]?.text ?? "";
}

/** Compiles classes and async functions to older syntax, as React Native's preset does for this version of Hermes. */
async function compile(tools: string, program: string): Promise<string> {
  const require = createRequire(join(tools, "package.json"));
  const { transformAsync } = require("@babel/core") as { transformAsync: Transform };
  const preset = [require.resolve("@babel/preset-env"), { targets: { ie: "11" }, modules: false, exclude: KEPT }];
  const options = { configFile: false, babelrc: false, compact: true, presets: [preset] };
  return (await transformAsync(program, options)).code;
}
