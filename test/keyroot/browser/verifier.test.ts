import { expect } from "chai";
import { keccak256 } from "ethers";
import hre from "hardhat";
import { basename } from "node:path";
import { type KeyRecord, type KeyOptions, type VerifierOptions } from "keyroot";
import { makeMerkleFile } from "keyroot/merkle";
import type { Listening } from "@keyroot/operator/shared";
import { type Stack, startStack } from "@keyroot/service/stack";
import { publishLocally } from "../../support/chain/local.ts";
import { sampleRecords, sampleUserID, textOf } from "../../support/samples.ts";
import { serve } from "../../support/servers/servers.ts";
import { describeIfNamed } from "../../support/named.ts";
import { installPackages } from "../../support/packages/installPackages.ts";
import { closedAfterAll, freePort } from "../../support/support.ts";
import { type Bundle, bundle } from "../../support/browser/bundle.ts";
import { type OpenPage, openPage } from "../../support/browser/openPage.ts";

/** An app that uses the packed library. `verify` returns a key, or "step: CODE", or CODE. */
const APP = `
import { ANY_KEY, createVerifier, oneEndpoint, ownNode } from "keyroot";

globalThis.violations = [];
document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
  violations.push(effectiveDirective + " " + blockedURI);
});
globalThis.verify = async (userID, options) => {
  try {
    const { expectedPublicKey = ANY_KEY, trust = "oneEndpoint", ...others } = options;
    const verifier = createVerifier({ ...others, trust: { oneEndpoint, ownNode }[trust]() });
    const { record, evidence } = await verifier.verify(userID, { expectedPublicKey });
    return { pubKey: record.pubKey, evidence };
  } catch ({ step, code }) {
    return step ? step + ": " + code : code;
  }
};
`;

/** The options of the page's verification. `trust` is the name of a choice without settings. */
type PageOptions = Partial<Omit<VerifierOptions, "trust"> & KeyOptions> & { trust?: "oneEndpoint" | "ownNode" };

describeIfNamed(import.meta.filename)("the verifier in Chromium, under a strict content security policy", () => {
  const [mine, other] = sampleRecords(2) as [KeyRecord, KeyRecord];
  const open = closedAfterAll();
  let stack: Stack;
  let app: Bundle;
  let page: OpenPage;
  /** A file host that the policy allows. It serves a forged file or a redirect. */
  let rogue: Listening;
  /** A file host that the policy does not allow. */
  let blocked: Listening;
  /** An allowed origin without a server. */
  let unused: string;

  before(async () => {
    stack = open(await startStack(hre, { ports: { chain: 0, files: 0 } }));
    await publishLocally(stack, [mine, other]);

    const forged = textOf(makeMerkleFile([{ ...other, userID: mine.userID }, other]));
    rogue = open(
      await serve(({ url }, response) => {
        response.setHeader("Access-Control-Allow-Origin", "*");
        if (url?.startsWith("/forged/")) response.end(forged);
        else response.writeHead(302, { Location: stack.merkleUrl }).end();
      }),
    );
    blocked = open(await serve((_, response) => response.setHeader("Access-Control-Allow-Origin", "*").end("{}")));
    unused = `http://127.0.0.1:${await freePort()}`;

    app = await bundle(APP, {}, await installPackages("keyroot"));
    page = open(await openPage(app, [stack.rpcUrl, stack.merkleUrl, rogue.url, unused]));
  });

  beforeEach(() => page.reload());

  /** Verifies a user's key in the app. The default user is `mine`. */
  const verify = (options: PageOptions = {}, userID = mine.userID): Promise<unknown> => {
    const { rpcUrl: rpc, chainId, contract, merkleUrl } = stack;
    const all = JSON.stringify({ rpc, chainId, contract, merkleUrl, ...options });
    return page.evaluate(`verify("${userID}", ${all})`);
  };
  const violations = () => page.evaluate("violations");
  const origins = () => new Set(page.requests.map((url) => new URL(url).origin));
  const chunks = () => page.requests.filter((url) => url.endsWith(".js")).map((url) => basename(url));

  it("verifies a published key", async () => {
    const evidence = { source: "one-endpoint", storageProof: false, uniqueness: "checked" };
    expect(await verify()).to.deep.equal({ pubKey: mine.pubKey, evidence });
    expect(await verify({ expectedPublicKey: mine.pubKey })).to.deep.equal({ pubKey: mine.pubKey, evidence });
  });

  it("rejects a swapped key with KEY_MISMATCH", async () => {
    expect(await verify({ expectedPublicKey: other.pubKey })).to.equal("key: KEY_MISMATCH");
  });

  it("rejects a forged file with ROOT_MISMATCH", async () => {
    expect(await verify({ merkleUrl: `${rogue.url}/forged` })).to.equal("tree: ROOT_MISMATCH");
  });

  it("rejects a user without a key with NOT_PUBLISHED", async () => {
    expect(await verify({}, sampleUserID(2))).to.equal("root: NOT_PUBLISHED");
  });

  it("rejects redirects", async () => {
    expect(await verify({ merkleUrl: rogue.url })).to.equal("REDIRECT_REFUSED");
  });

  it("throws UNREACHABLE if no server listens", async () => {
    expect(await verify({ rpc: unused })).to.equal("UNREACHABLE");
    expect(await verify({ merkleUrl: unused })).to.equal("UNREACHABLE");
  });

  it("rejects responses above its limits", async () => {
    expect(await verify({ limits: { fileBytes: 1024 } })).to.equal("ANSWER_TOO_LARGE");
  });

  it("loads only the chunks that a basic verification needs", async () => {
    // A lowercase address has no checksum. The check of a checksum would load Keccak-256.
    await verify({ expectedPublicKey: mine.pubKey, contract: stack.contract.toLowerCase() });
    expect(chunks()).to.have.members(app.initial);
    const others = ["dist/keccak", "dist/evidence", "dist/readRoot"].flatMap((words) => app.chunksWith(words));
    for (const chunk of others) expect(chunks()).to.not.include(chunk);
  });

  it("loads Keccak-256 on demand to check the code hash", async () => {
    const codeHash = keccak256(await stack.connection.ethers.provider.getCode(stack.contract));
    expect(await verify({ codeHash })).to.include({ pubKey: mine.pubKey });
    expect(chunks()).to.include.members(app.chunksWith("dist/keccak"));
    for (const chunk of app.chunksWith("dist/readRoot")) expect(chunks()).to.not.include(chunk);
    expect(await verify({ codeHash: keccak256("0x") })).to.equal("root: CODE_HASH_MISMATCH");
  });

  it("loads the code for storage proofs only for a verification with such proofs", async () => {
    const { pubKey, evidence } = (await verify({ trust: "ownNode" })) as { pubKey: string; evidence: object };
    expect(pubKey).to.equal(mine.pubKey);
    expect(evidence).to.include({ storageProof: true });
    expect(chunks()).to.include.members(app.chunksWith("dist/readRoot"));
  });

  it("throws MODULE_UNAVAILABLE for code that is no longer on the app's server", async () => {
    const chunks = app.chunks as Map<string, Uint8Array>;
    const removed = app.chunksWith("dist/readRoot").map((name) => [name, chunks.get(name)] as const);
    for (const [name] of removed) chunks.delete(name);
    expect(await verify({ trust: "ownNode" })).to.equal("MODULE_UNAVAILABLE");
    for (const [name, code = new Uint8Array()] of removed) chunks.set(name, code);
    await page.reload();
    expect(await verify({ trust: "ownNode" })).to.include({ pubKey: mine.pubKey });
  });

  it("connects only to the origins in its options", async () => {
    const codeHash = keccak256(await stack.connection.ethers.provider.getCode(stack.contract));
    for (const options of [{}, { codeHash }, { trust: "ownNode" } as const]) await verify(options);
    expect(await violations()).to.deep.equal([]);
    expect(origins()).to.deep.equal(new Set([page.origin, stack.rpcUrl, stack.merkleUrl]));
  });

  it("fails to connect to an origin that the policy forbids", async () => {
    expect(await verify({ merkleUrl: blocked.url })).to.equal("UNREACHABLE");
    // The browser reports the violation in a separate task.
    await page.evaluate(
      "(async () => { while (violations.length === 0) await new Promise((next) => setTimeout(next, 20)); })()",
    );
    const [violation, ...others] = (await violations()) as string[];
    expect(violation).to.match(new RegExp(`^connect-src ${blocked.url}/`));
    expect(others).to.be.empty;
  });
});
