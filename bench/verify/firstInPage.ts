import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Browser } from "playwright-core";
import { userIDToHex } from "keyroot";
import { launchChromium } from "../../test/support/browser/chromium.ts";
import { serve } from "../../test/support/servers/servers.ts";
import { median } from "../runner/report.ts";
import { answerRootCalls } from "./rootCalls.ts";
import type { Sample } from "./ways.ts";

/** How many times slower the page's processor is, as for phones in Chromium's developer tools. */
export const SLOWDOWN = 4;

interface Options {
  /** The folder of the library's modules. */
  library: string;
  /** The folder of the sample. */
  folder: string;
  runs: number;
}

/**
 * Measures a page's first verification in Chromium, whose processor is slowed down: from the start of the download of
 * the verifier's code until the key is verified, in a new context, so that nothing is cached or compiled.
 * @returns the median in ms
 */
export async function measureFirstInPage({ library, folder, runs }: Options): Promise<number> {
  const sample = JSON.parse(readFileSync(join(folder, "sample.json"), "utf8")) as Sample;
  const file = readFileSync(join(folder, "file.json"));
  const userID = userIDToHex(sample.userID);
  const rootOf = (id: string) => (id === userID ? sample.root : "");
  const modules = await bundle(library);
  const server = await serve((request, response) => {
    const path = request.url ?? "";
    const code = modules.get(path);
    if (code !== undefined) response.setHeader("Content-Type", "text/javascript").end(code);
    else if (path === "/") response.setHeader("Content-Type", "text/html").end("<!doctype html><title>Keyroot</title>");
    else if (path === "/rpc") void text(request).then((body) => response.end(answerRootCalls(body, rootOf)));
    else if (path === `/${sample.root}.json`) response.end(file);
    else response.writeHead(404).end();
  });
  const browser = await launchChromium();
  try {
    const times: number[] = [];
    for (let i = 0; i < runs; i++) times.push(await inNewPage(browser, server.url, sample));
    return median(times);
  } finally {
    await browser.close();
    await server.close();
  }
}

/** Bundles the verifier as an app does: code that is loaded on demand stays in separate files. */
async function bundle(library: string): Promise<Map<string, Uint8Array>> {
  const index = JSON.stringify(`${library}/index${library.endsWith("src") ? ".ts" : ".js"}`);
  const { outputFiles } = await build({
    stdin: { contents: `export { ANY_KEY, createVerifier, oneEndpoint } from ${index};`, resolveDir: library },
    ...{ bundle: true, splitting: true, format: "esm", minify: true, target: "es2022", platform: "browser" },
    ...{ write: false, outdir: "/", entryNames: "app" },
  });
  return new Map(outputFiles.map(({ path, contents }) => [path, contents]));
}

async function inNewPage(browser: Browser, url: string, { userID, contract }: Sample): Promise<number> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
    const session = await context.newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
    return await page.evaluate(
      async ({ url, userID, contract }) => {
        const start = performance.now();
        const { ANY_KEY, createVerifier, oneEndpoint } = (await import(`${url}/app.js`)) as typeof import("keyroot");
        const options = { rpc: `${url}/rpc`, chainId: 1, contract, merkleUrl: url, trust: oneEndpoint() };
        await createVerifier(options).verify(userID, { expectedPublicKey: ANY_KEY });
        return performance.now() - start;
      },
      { url, userID, contract },
    );
  } finally {
    await context.close();
  }
}
