import { expect } from "chai";
import { keccak256 } from "ethers";
import hre from "hardhat";
import { basename, resolve } from "node:path";
import type { KeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { makeMerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import { FolderStore } from "../../../packages/operator/src/publisher/files/folderStore.ts";
import { publish } from "../../../packages/operator/src/publisher/publish.ts";
import { Registry } from "../../../packages/operator/src/publisher/chain/registry.ts";
import type { Listening } from "../../../packages/operator/src/stack/ports.ts";
import { startStack, type Stack } from "../../../packages/operator/src/stack/stack.ts";
import { rpcCaller } from "../../../packages/keyroot/src/transport/jsonRpc.ts";
import type { VerifyOptions } from "../../../packages/keyroot/src/verifier/options.ts";
import { sampleRecords, sampleUserID, textOf } from "../../../fixtures/samples.ts";
import { serve } from "../../support/servers.ts";
import { freePort } from "../../support/support.ts";
import { type Bundle, bundle } from "../../support/browser/bundle.ts";
import { type OpenPage, openPage } from "../../support/browser/openPage.ts";

/** Hardhat loads every file under test/. This one needs Chromium, and makes its claims only where it is named. */
const describeIfNamed = process.argv.some((path) => resolve(path) === import.meta.filename)
  ? describe
  : () => undefined;

/** The app: it has the published package, and tells what that says: a key, or "step: CODE", or CODE. */
const APP = `
import { verifyPublicKey } from "keyroot";

globalThis.violations = [];
document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
  violations.push(effectiveDirective + " " + blockedURI);
});
globalThis.verify = async (userID, options) => {
  try {
    const { record, evidence } = await verifyPublicKey(userID, options);
    return { pubKey: record.pubKey, evidence };
  } catch ({ step, code }) {
    return step ? step + ": " + code : code;
  }
};
`;

describeIfNamed("the verifier in Chromium, under a strict content security policy", () => {
  const [mine, other] = sampleRecords(2) as [KeyRecord, KeyRecord];
  const opened = new AsyncDisposableStack();
  let stack: Stack;
  let app: Bundle;
  let page: OpenPage;
  /** A host of files that the policy allows, and what it answers. */
  let rogue: Listening;
  /** One that it does not allow. */
  let stranger: Listening;
  /** An origin that it allows, where nobody listens. */
  let nobody: string;

  before(async function () {
    this.timeout(60_000);
    const open = <T extends { close(): Promise<void> }>(it: T): T => opened.adopt(it, () => it.close());

    stack = open(await startStack(hre, { ports: { chain: 0, files: 0 } }));
    const call = rpcCaller(stack.rpcUrl, { maxBytes: 2 ** 20, timeoutMs: 30_000 });
    const registry = await Registry.connect(call, stack.contract);
    await publish([mine, other], { registry, store: new FolderStore(stack.merkleDir) });

    const doctored = textOf(makeMerkleFile([{ ...other, userID: mine.userID }, other]));
    rogue = open(
      await serve(({ url }, response) => {
        response.setHeader("Access-Control-Allow-Origin", "*");
        if (url?.startsWith("/doctored/")) response.end(doctored);
        else response.writeHead(302, { Location: stack.merkleUrl }).end();
      }),
    );
    stranger = open(await serve((_, response) => response.setHeader("Access-Control-Allow-Origin", "*").end("{}")));
    nobody = `http://127.0.0.1:${await freePort()}`;

    app = await bundle(APP);
    page = open(await openPage(app, [stack.rpcUrl, stack.merkleUrl, rogue.url, nobody]));
  });

  after(() => opened.disposeAsync());

  beforeEach(() => page.reload());

  /** What the app is told about a user, `mine` unless another is named. */
  const verify = (options: Partial<VerifyOptions> = {}, userID = mine.userID): Promise<unknown> => {
    const { rpcUrl: rpc, chainId, contract, merkleUrl } = stack;
    const all = JSON.stringify({ rpc, chainId, contract, merkleUrl, ...options });
    return page.evaluate(`verify("${userID}", ${all})`);
  };
  const violations = () => page.evaluate("violations");
  const origins = () => new Set(page.requests.map((url) => new URL(url).origin));
  const chunks = () => page.requests.filter((url) => url.endsWith(".js")).map((url) => basename(url));

  it("verifies a published key", async () => {
    const evidence = { anchor: "endpoint", storageProof: false };
    expect(await verify()).to.deep.equal({ pubKey: mine.pubKey, evidence });
    expect(await verify({ expectedPublicKey: mine.pubKey })).to.deep.equal({ pubKey: mine.pubKey, evidence });
  });

  it("refuses a swapped key with KEY_MISMATCH", async () => {
    expect(await verify({ expectedPublicKey: other.pubKey })).to.equal("key: KEY_MISMATCH");
  });

  it("refuses a doctored file with ROOT_MISMATCH", async () => {
    expect(await verify({ merkleUrl: `${rogue.url}/doctored` })).to.equal("tree: ROOT_MISMATCH");
  });

  it("refuses a user without a key with NOT_PUBLISHED", async () => {
    expect(await verify({}, sampleUserID(2))).to.equal("root: NOT_PUBLISHED");
  });

  it("follows no redirect, which browsers do not let it see", async () => {
    expect(await verify({ merkleUrl: rogue.url })).to.equal("REDIRECT_REFUSED");
  });

  it("knows nothing where nobody answers", async () => {
    expect(await verify({ rpc: nobody })).to.equal("UNREACHABLE");
    expect(await verify({ merkleUrl: nobody })).to.equal("UNREACHABLE");
  });

  it("reads no more than its limits allow", async () => {
    expect(await verify({ limits: { rpcBytes: 16 } })).to.equal("ANSWER_TOO_LARGE");
    expect(await verify({ limits: { fileBytes: 1024 } })).to.equal("ANSWER_TOO_LARGE");
  });

  it("loads no other chunks than a basic verification takes", async () => {
    await verify({ expectedPublicKey: mine.pubKey });
    expect(chunks()).to.have.members(app.initial);
    const others = ["hashes/sha3", "verifier/askAnchored"].flatMap((words) => app.chunksWith(words));
    for (const chunk of others) expect(chunks()).to.not.include(chunk);
  });

  it("loads Keccak when the contract's code is to be checked, and then holds it against its hash", async () => {
    const codeHash = keccak256(await stack.connection.ethers.provider.getCode(stack.contract));
    expect(await verify({ codeHash })).to.include({ pubKey: mine.pubKey });
    expect(chunks()).to.include.members(app.chunksWith("hashes/sha3"));
    for (const chunk of app.chunksWith("verifier/askAnchored")) expect(chunks()).to.not.include(chunk);
    expect(await verify({ codeHash: keccak256("0x") })).to.equal("root: CODE_HASH_MISMATCH");
  });

  it("loads what checks storage proofs when one is asked for, and then rests on it", async () => {
    const { pubKey, evidence } = (await verify({ storageProof: true })) as { pubKey: string; evidence: object };
    expect(pubKey).to.equal(mine.pubKey);
    expect(evidence).to.include({ storageProof: true });
    expect(chunks()).to.include.members(app.chunksWith("verifier/askAnchored"));
  });

  it("keeps to the policy, and asks none but the origins that it is given", async () => {
    const codeHash = keccak256(await stack.connection.ethers.provider.getCode(stack.contract));
    for (const options of [{}, { codeHash }, { storageProof: true }]) await verify(options);
    expect(await violations()).to.deep.equal([]);
    expect(origins()).to.deep.equal(new Set([page.origin, stack.rpcUrl, stack.merkleUrl]));
  });

  it("is stopped by the policy where an origin is not allowed, which shows that there is one", async () => {
    expect(await verify({ merkleUrl: stranger.url })).to.equal("UNREACHABLE");
    const [violation, ...others] = (await violations()) as string[];
    expect(violation).to.match(new RegExp(`^connect-src ${stranger.url}/`));
    expect(others).to.be.empty;
  });
});
