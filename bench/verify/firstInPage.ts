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

/** A way to read a key, as the code of a page: a module whose default export takes `Input`. */
const PROGRAMS = {
  keyroot: (index: string) => `import { ANY_KEY, createVerifier, oneEndpoint } from ${index};
    export default ({ userID, rpc, contract, merkleUrl }) => createVerifier({ rpc, chainId: 1, contract, merkleUrl, trust: oneEndpoint() })
      .verify(userID, { expectedPublicKey: ANY_KEY });`,
  viem: () => `import { createPublicClient, http, parseAbi } from "viem";
    const abi = parseAbi(["function getMerkleTreeRoot(bytes20) view returns (bytes32)"]);
    export default async ({ hexUserID, rpc, contract, merkleUrl }) => {
      const client = createPublicClient({ transport: http(rpc) });
      const call = { address: contract, abi, functionName: "getMerkleTreeRoot", args: ["0x" + hexUserID] };
      const root = await client.readContract(call);
      await (await fetch(merkleUrl + "/" + root.slice(2) + ".json")).json();
    };`,
};
type By = keyof typeof PROGRAMS;

interface Input {
  userID: string;
  hexUserID: string;
  rpc: string;
  contract: string;
  merkleUrl: string;
}

/**
 * Measures the first time that a page verifies a key in Chromium with a slowed-down processor. The time starts with the
 * download of the code and ends when the key is verified. Each run has a new context, so nothing is cached or compiled.
 * For comparison, it also measures a page that reads the root with viem and downloads the file, without any check.
 * @returns the medians in ms
 */
export async function measureFirstInPage({ library, folder, runs }: Options): Promise<Record<By, number>> {
  const sample = JSON.parse(readFileSync(join(folder, "sample.json"), "utf8")) as Sample;
  const file = readFileSync(join(folder, "file.json"));
  const hexUserID = userIDToHex(sample.userID);
  const rootOf = (id: string) => (id === hexUserID ? sample.root : "");
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
  const { userID, contract } = sample;
  const input: Input = { userID, hexUserID, rpc: `${server.url}/rpc`, contract, merkleUrl: server.url };
  const browser = await launchChromium();
  try {
    const times: Record<By, number[]> = { keyroot: [], viem: [] };
    for (let i = 0; i < runs; i++)
      for (const by of Object.keys(times) as By[]) times[by].push(await inNewPage(browser, server.url, by, input));
    return { keyroot: median(times.keyroot), viem: median(times.viem) };
  } finally {
    await browser.close();
    await server.close();
  }
}

/** Bundles the programs as an app does: code that is loaded on demand stays in separate files. */
async function bundle(library: string): Promise<Map<string, Uint8Array>> {
  const index = JSON.stringify(`${library}/index${library.endsWith("src") ? ".ts" : ".js"}`);
  const modules = new Map<string, Uint8Array>();
  for (const [by, program] of Object.entries(PROGRAMS)) {
    const { outputFiles } = await build({
      stdin: { contents: program(index), resolveDir: import.meta.dirname },
      ...{ bundle: true, splitting: true, format: "esm", minify: true, target: "es2022", platform: "browser" },
      ...{ write: false, outdir: `/${by}`, entryNames: "app" },
    });
    for (const { path, contents } of outputFiles) modules.set(path, contents);
  }
  return modules;
}

async function inNewPage(browser: Browser, url: string, by: By, input: Input): Promise<number> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
    const session = await context.newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
    return await page.evaluate(
      async ({ script, input }) => {
        const start = performance.now();
        const { default: read } = (await import(script)) as { default: (input: unknown) => Promise<unknown> };
        await read(input);
        return performance.now() - start;
      },
      { script: `${url}/${by}/app.js`, input },
    );
  } finally {
    await context.close();
  }
}
