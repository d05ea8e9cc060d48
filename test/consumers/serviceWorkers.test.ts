import { expect } from "chai";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page, Worker } from "playwright-core";
import { bundle } from "../support/browser/bundle.ts";
import { launchChromium, launchWithExtension } from "../support/browser/chromium.ts";
import { describeIfNamed } from "../support/named.ts";
import { installPackages } from "../support/packages/installPackages.ts";
import { type PublishedKey, publishedKey } from "../support/packages/publishedKey.ts";
import { serve } from "../support/servers/servers.ts";
import { closedAfterAll } from "../support/support.ts";
import { checkProgram, expectedOutcome, inputOf } from "./programs.ts";

/** A worker that answers each message with the result of `verify`. */
const WORKER = `
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("message", (event) => {
  event.waitUntil(verify(event.data).then((results) => event.ports[0].postMessage(results)));
});
`;

/** `verify` verifies keys in several ways with the functions of an entry. Each result is a key or an error. */
const verifyWith = (entry: string) => `
import { createVerifier, KeyrootError, oneEndpoint, ownNode } from "${entry}";

const resultOf = async (work) => {
  try {
    return await work();
  } catch (error) {
    return error instanceof KeyrootError ? error.toJSON() : String(error);
  }
};
globalThis.verify = async ({ userID, published, swapped, options }) => {
  const verify = (trust, expectedPublicKey) => resultOf(async () => {
    const verifier = createVerifier({ ...options, trust });
    return (await verifier.verify(userID, { expectedPublicKey })).record.pubKey;
  });
  return {
    reported: await verify(oneEndpoint(), published),
    atBlock: await verify(oneEndpoint({ block: "finalized" }), published),
    proven: await verify(ownNode(), published),
    listed: await resultOf(async () => {
      const verifier = createVerifier({ ...options, trust: oneEndpoint() });
      const [{ verified }] = await verifier.verifyMany([{ userID, expectedPublicKey: published }]);
      return verified.record.pubKey;
    }),
    swapped: await verify(ownNode(), swapped),
  };
};
`;

/** Registers a service worker, and returns its answer to a message. */
const ASK_WORKER = `globalThis.ask = async (script, message) => {
  const registration = await navigator.serviceWorker.register(script, { type: "module", scope: script });
  const worker = registration.active ?? registration.waiting ?? registration.installing;
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(message, [port2]);
  return new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
};`;

describeIfNamed(import.meta.filename)("the packed library in service workers", () => {
  const open = closedAfterAll();
  let key: PublishedKey;
  let installed: string;
  let page: Page;
  const scripts = new Map<string, string | Uint8Array>();

  before("opens a page of an app without a bundler", async () => {
    const [published, app] = await Promise.all([publishedKey(), installPackages("keyroot", "client")]);
    key = published;
    installed = join(app, "node_modules", "keyroot", "dist");
    scripts.set("check.js", await singleFile(app));
    for (const [name, entry] of [
      ["all", "serviceWorker"],
      ["split", "index"],
    ] as const)
      scripts.set(`${name}.js`, verifyWith(`/keyroot/${entry}.js`) + WORKER);
    const server = open(
      await serve(({ url = "" }, response) => {
        const [, module] = /^\/keyroot\/([\w/-]+\.js)$/.exec(url) ?? [];
        const script = scripts.get(url.slice(1)) ?? (module && readFile(join(installed, module)));
        response.setHeader("Content-Type", script ? "text/javascript" : "text/html");
        void Promise.resolve(script ?? "<!doctype html>").then((text) => response.end(text));
      }),
    );
    const browser = open(await launchChromium());
    page = await browser.newPage();
    await page.goto(server.url);
    await page.evaluate(ASK_WORKER);
  });

  /** The app of all consumer tests, as a bundler writes it without code splitting. */
  async function singleFile(app: string): Promise<Uint8Array> {
    const folder = await mkdtemp(join(app, "service-worker-"));
    await writeFile(join(folder, "check.js"), await checkProgram("esm"));
    const program = `import { check } from "./check.js";\nglobalThis.verify = check;${WORKER}`;
    const { chunks, entry } = await bundle(program, { splitting: false }, folder);
    return chunks.get(entry) ?? new Uint8Array();
  }

  const ask = (worker: string): Promise<Record<string, unknown>> =>
    page.evaluate(`ask("/${worker}.js", ${JSON.stringify(inputOf(key))})`);
  const mismatch = { name: "VerificationError", code: "KEY_MISMATCH", advice: "warn", step: "key" };

  function expectVerified({ swapped, ...verified }: Record<string, unknown>): void {
    const { pubKey } = key.record;
    expect(verified).to.deep.equal({ reported: pubKey, atBlock: pubKey, proven: pubKey, listed: pubKey });
    expect(swapped).to.include(mismatch);
  }

  it("verifies a key in every way with keyroot/service-worker, without a bundler", async () => {
    expectVerified(await ask("all"));
  });

  it("verifies a key in every way in a single file that a bundler wrote", async () => {
    expect(await ask("check")).to.deep.equal(expectedOutcome(key));
  });

  it("reports code that cannot be loaded on demand as MODULE_UNAVAILABLE with the advice `retry`", async () => {
    for (const [name, result] of Object.entries(await ask("split")))
      expect(result, name).to.include({ name: "TransportError", code: "MODULE_UNAVAILABLE", advice: "retry" });
  });

  it("verifies a key in every way in the background of a Chromium extension", async function () {
    const folder = await mkdtemp(join(tmpdir(), "keyroot-extension-"));
    try {
      await cp(installed, join(folder, "keyroot"), { recursive: true });
      await writeFile(join(folder, "background.js"), verifyWith("./keyroot/serviceWorker.js"));
      await writeFile(join(folder, "manifest.json"), JSON.stringify(EXTENSION));
      const context = await launchWithExtension(folder);
      if (context === undefined) return this.skip(); // Only the complete Chromium has extensions.
      try {
        const isReady = (worker: Worker) => worker.url().endsWith("/background.js");
        const worker = context.serviceWorkers().find(isReady) ?? (await context.waitForEvent("serviceworker"));
        expectVerified(await worker.evaluate(`verify(${JSON.stringify(inputOf(key))})`));
      } finally {
        await context.close();
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

/** The manifest of an extension whose background may call the stack. */
const EXTENSION = {
  manifest_version: 3,
  name: "Keyroot",
  version: "1",
  background: { service_worker: "background.js", type: "module" },
  host_permissions: ["http://127.0.0.1/*"],
};
