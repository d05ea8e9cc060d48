import { expect } from "chai";
import { cp, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createVerifier, oneEndpoint } from "keyroot";
import { verifyKeyStatement } from "keyroot/account";
import { makeBundle } from "keyroot/bundle";
import { ENDLESS_MS } from "../../support/endless.ts";
import { installLocked } from "../../support/packages/installLocked.ts";
import { ROOT, run, unpackPackage } from "../../support/packages/installPackages.ts";
import { type PublishedKey, publishedKey } from "../../support/packages/publishedKey.ts";

const SOURCES = join(import.meta.dirname, "reactNative");
const EXAMPLE = join(ROOT, "examples/react-native");
const PLATFORM = { linux: "linux64", darwin: "osx", win32: "win64" }[process.platform as "linux"];

/** Results of RPC calls by method and parameters, and files by path, in base64. */
interface Recorded {
  calls: Record<string, unknown>;
  files: Record<string, string>;
}

interface Call {
  id: number;
  method: string;
  params: unknown[];
}

describe("examples/react-native, bundled by Metro", () => {
  const opened = new AsyncDisposableStack();
  let key: PublishedKey;
  let tools: string;
  let bundle: string;
  let program: string;

  before("records the answers of a real stack, and bundles the app with the packed library", async () => {
    key = await publishedKey();
    tools = await installLocked(SOURCES, "react-native");
    for (const name of ["keyroot", "client"]) await unpackPackage(name, tools);
    await cp(SOURCES, tools, { recursive: true });
    for (const name of ["keys.js", "account.js", "config.js", "me.json"])
      await cp(join(EXAMPLE, name), join(tools, "app", name));
    const folder = await mkdtemp(join(tmpdir(), "keyroot-react-native-"));
    opened.defer(() => rm(folder, { recursive: true }));
    bundle = join(folder, "bundle.js");
    const metro = ["--config", "metro.config.mjs", "--platform", "android", "--dev", "false", "--minify", "false"];
    await run(join(tools, "node_modules/.bin/metro"), ["build", "main.js", ...metro, "--out", bundle], { cwd: tools });
    const { record, swapped } = key;
    const contacts = [{ name: "Contact", userID: record.userID, publicKey: record.pubKey, swapped }];
    const data = { recorded: await recordAnswers(key), contacts };
    const globals = Object.entries(data).map(([name, value]) => `var ${name} = ${JSON.stringify(value)};\n`);
    program = join(folder, "program.js");
    await writeFile(program, `var __DEV__ = false;\n${globals.join("")}${await readFile(bundle, "utf8")}`);
  });

  after(() => opened.disposeAsync());

  it("compiles with the current Hermes compiler", async () => {
    const compiler = join(tools, `node_modules/hermes-compiler/hermesc/${PLATFORM}-bin/hermesc`);
    const bytecode = `${bundle}.hbc`;
    await run(compiler, ["-O", "-emit-binary", "-out", bytecode, bundle]);
    expect((await stat(bytecode)).size).to.be.above(100_000);
  });

  const engines: Readonly<Record<string, () => Promise<string[]>>> = {
    Hermes: async () => [
      join(
        await installLocked(import.meta.dirname, "engines"),
        `node_modules/hermes-engine-cli/${PLATFORM}-bin/hermes`,
      ),
      ...["-w", "-Xmicrotask-queue"],
    ],
    JavaScriptCore: () => Promise.resolve(["/usr/bin/jsc"]),
  };
  for (const [engine, command] of Object.entries(engines))
    it(`verifies a key, raises an alarm for a swapped key, and signs a key with a recovery sheet in ${engine}`, async () => {
      const [file = "", ...args] = await command();
      const { stdout } = await run(file, [...args, program], { timeout: ENDLESS_MS });
      const { signed, ...outcomes } = JSON.parse(stdout) as { signed: { account: string; statement: string } };
      expect(verifyKeyStatement({ text: signed.account }, signed.statement).number).to.equal(0);
      expect(outcomes).to.deep.equal({
        published: key.record.pubKey,
        swapped: "KEY_MISMATCH, warn",
        redirect: "REDIRECT_REFUSED, retry",
        endless: "TIMEOUT, retry",
        aborted: 1,
        watch: "CONTACT_KEY_MISMATCH",
      });
    });
});

/** Runs the app's calls in Node, and returns the real servers' responses. */
async function recordAnswers({ stack, record, swapped }: PublishedKey): Promise<Recorded> {
  const { rpcUrl, merkleUrl, chainId, contract } = stack;
  const recorded: Recorded = { calls: {}, files: {} };
  const recordingFetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const bytes = Buffer.from(await response.clone().arrayBuffer());
    const url = input as string;
    if (url.startsWith(merkleUrl)) recorded.files[url.slice(merkleUrl.length)] = bytes.toString("base64");
    else {
      const calls = [JSON.parse(init?.body as string)].flat() as Call[];
      const answers = [JSON.parse(bytes.toString())].flat() as { id: number; result?: unknown }[];
      for (const { id, method, params } of calls)
        recorded.calls[JSON.stringify([method, params])] = answers.find((answer) => answer.id === id)?.result;
    }
    return response;
  };
  const verifier = createVerifier({
    rpc: rpcUrl,
    merkleUrl,
    chainId,
    contract,
    trust: oneEndpoint(),
    fetch: recordingFetch,
  });
  await verifier.verifyMany([{ userID: record.userID, expectedPublicKey: record.pubKey }]);
  const contact = { userID: record.userID, expectedPublicKey: swapped };
  const { userID, pubKey } = JSON.parse(await readFile(join(EXAMPLE, "me.json"), "utf8")) as typeof record;
  const ended = new AbortController();
  await new Promise((resolve, reject) => {
    const options = { userID, publicKey: pubKey, contacts: () => [contact], store: new Map<string, string>() };
    verifier.watch({ ...options, makeBundle, onAlarm: resolve, signal: ended.signal }).catch(reject);
  });
  ended.abort();
  return recorded;
}
