import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../../test/support/browser/chromium.ts";
import { serve } from "../../test/support/servers/servers.ts";
import { median, round, type Row } from "../runner/report.ts";
import { inputOf, MODULES, WAYS } from "./ways.ts";

const BROWSER_WAYS = ["file", "proof", "bundle"] as const;
type BrowserWay = (typeof BROWSER_WAYS)[number];

/** The code that verifies in the page, whose modules are bundled as an app does it. */
const SCRIPTS: Record<BrowserWay, (module: string, index: string) => string> = {
  file: (module) => `import { verifyFile } from ${module};
    export default ({ userID, root, contract }, bytes) => verifyFile({ userID, chainId: 1, contract, expectedPublicKey: Symbol.for("keyroot.ANY_KEY") }, root, bytes);`,
  proof: (module) => `import { verifyMerkleProof } from ${module};
    export default ({ userID, root }, bytes) => verifyMerkleProof(bytes, { userID, root, expectedPublicKey: Symbol.for("keyroot.ANY_KEY") });`,
  bundle: (module, index) => `import { verifyBundle } from ${module};
    import { pinnedBlock } from ${index};
    export default ({ userID, contract, codeHash, pinned }, bytes) =>
      verifyBundle(bytes, { userID, chainId: 1, contract, codeHash, expectedPublicKey: Symbol.for("keyroot.ANY_KEY"), trust: pinnedBlock(pinned) });`,
};

interface Options {
  library: string;
  /** The folder of each sample. The keys are the numbers of users. */
  folders: ReadonlyMap<number, string>;
  coldRuns: number;
  totalMs: number;
}

/**
 * Measures verifications in Chromium, where the file, proof or bundle is already loaded. A cold run has a new browser
 * context, and its time includes loading the library.
 */
export async function measureInChromium({ library, folders, coldRuns, totalMs }: Options): Promise<Row[]> {
  const scripts = new Map<string, string>();
  for (const way of BROWSER_WAYS) scripts.set(`/${way}.js`, await bundle(way, library));
  const server = await serve((request, response) => {
    const path = request.url ?? "";
    const script = scripts.get(path);
    if (script !== undefined) response.setHeader("Content-Type", "text/javascript").end(script);
    else if (path === "/") response.setHeader("Content-Type", "text/html").end("<!doctype html><title>Keyroot</title>");
    else {
      const [, users, name = ""] = path.split("/");
      const folder = folders.get(Number(users));
      if (folder === undefined) response.writeHead(404).end();
      else response.end(readFileSync(join(folder, name)));
    }
  });
  const url = `${server.url}/`;
  const browser = await launchChromium();
  try {
    const rows: Row[] = [];
    for (const users of folders.keys()) {
      for (const way of BROWSER_WAYS) {
        const cold: number[] = [];
        for (let i = 0; i < coldRuns; i++) cold.push((await inNewPage(browser, url, users, way, 0)).cold);
        const { warm } = await inNewPage(browser, url, users, way, totalMs);
        rows.push({ users, what: WAYS[way], coldMs: round(median(cold)), warmMs: round(warm) });
      }
    }
    return rows;
  } finally {
    await browser.close();
    await server.close();
  }
}

async function bundle(way: BrowserWay, library: string): Promise<string> {
  const [module = "", index = ""] = [MODULES[way], "index"].map((name) =>
    JSON.stringify(`${library}/${name}${library.endsWith("src") ? ".ts" : ".js"}`),
  );
  const built = await build({
    stdin: { contents: SCRIPTS[way](module, index), resolveDir: library },
    ...{ bundle: true, format: "esm", minify: true, target: "es2022", platform: "browser", write: false },
  });
  return built.outputFiles[0]?.text ?? "";
}

/**
 * Measures verifications in a new page: the first one, and then repeated ones.
 * @param totalMs the total time of the warm runs in ms, or 0 for no warm runs
 */
async function inNewPage(browser: Browser, url: string, users: number, way: BrowserWay, totalMs: number) {
  const context = await browser.newContext();
  try {
    const page: Page = await context.newPage();
    await page.goto(url);
    return await page.evaluate(
      async ({ script, input, sampleUrl, totalMs }) => {
        const sample: unknown = await (await fetch(sampleUrl)).json();
        const bytes = new Uint8Array(await (await fetch(input)).arrayBuffer());
        const start = performance.now();
        const { default: verify } = (await import(script)) as {
          default: (sample: unknown, bytes: Uint8Array) => unknown;
        };
        await verify(sample, bytes);
        const cold = performance.now() - start;
        // The page's clock has steps of 0.1 ms, so short work is measured in groups.
        const group = totalMs === 0 ? 0 : Math.max(1, Math.ceil(5 / cold));
        const times: number[] = [];
        const end = performance.now() + totalMs;
        while (totalMs > 0 && (times.length < 3 || performance.now() < end)) {
          const begin = performance.now();
          for (let i = 0; i < group; i++) await verify(sample, bytes);
          times.push((performance.now() - begin) / group);
        }
        return { cold, warm: times.sort((a, b) => a - b)[times.length >> 1] ?? NaN };
      },
      { script: `/${way}.js`, input: `/${users}/${inputOf(way)}.json`, sampleUrl: `/${users}/sample.json`, totalMs },
    );
  } finally {
    await context.close();
  }
}
