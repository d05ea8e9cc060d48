import type { Page } from "playwright-core";
import { launchChromium } from "./chromium.ts";
import { serve } from "../servers/servers.ts";
import type { Bundle } from "./bundle.ts";

/** The files of a page by their names, and the name of its script. */
export type PageCode = Pick<Bundle, "chunks" | "entry">;

/** A page in a real browser, with its own origin. */
export interface OpenPage extends Pick<Page, "evaluate"> {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** The URLs of all the page's requests since it was loaded. */
  readonly requests: readonly string[];
  /** Reloads the page without a cache. */
  reload(): Promise<void>;
  /** Opens another tab of the same browser with the same page. */
  openTab(): Promise<Tab>;
  /** Opens the page in a window that shares no data with other windows. Only `clock.fastForward` changes its time. */
  openStopped(): Promise<Tab>;
  /** Limits the browser's storage for the page's origin. */
  limitStorage(bytes: number): Promise<void>;
  close(): Promise<void>;
}

/** Another tab. */
export type Tab = Pick<Page, "evaluate" | "close" | "clock">;

/**
 * Opens a page that runs a bundle in headless Chromium. Its content security policy allows only its own scripts and
 * requests to the given origins. It forbids inline code, `eval`, and strings where the DOM expects code or HTML.
 * @param options.trustedTypes false for the code of bundlers that loads chunks by strings
 */
export async function openPage(
  { chunks, entry }: PageCode,
  origins: readonly string[],
  { trustedTypes = true } = {},
): Promise<OpenPage> {
  await using starting = new AsyncDisposableStack();
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `connect-src ${origins.join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...(trustedTypes ? ["require-trusted-types-for 'script'", "trusted-types 'none'"] : []),
  ].join("; ");
  const server = await serve(({ url = "" }, response) => {
    const chunk = chunks.get(url.slice(1));
    response.setHeader("Content-Security-Policy", policy).setHeader("Cache-Control", "no-store");
    if (url === "/") {
      response.setHeader("Content-Type", "text/html");
      response.end(`<!doctype html><title>Keyroot</title><script type="module" src="/${entry}"></script>`);
    } else if (chunk) response.setHeader("Content-Type", "text/javascript").end(chunk);
    else response.writeHead(404).end();
  });
  starting.defer(() => server.close());

  const browser = await launchChromium();
  starting.defer(() => browser.close());
  const context = await browser.newContext();
  const page = await context.newPage();
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));

  const running = starting.move();
  return {
    origin: server.url,
    requests,
    evaluate: page.evaluate.bind(page),
    async reload() {
      requests.length = 0;
      await page.goto(server.url);
    },
    async openTab() {
      const tab = await context.newPage();
      await tab.goto(server.url);
      return tab;
    },
    async openStopped() {
      // All pages of a context have one clock.
      const tab = await (await browser.newContext()).newPage();
      await tab.clock.install();
      await tab.clock.pauseAt(Date.now() + 1000);
      await tab.goto(server.url);
      return tab;
    },
    async limitStorage(quotaSize) {
      const session = await context.newCDPSession(page);
      await session.send("Storage.overrideQuotaForOrigin", { origin: server.url, quotaSize });
    },
    close: () => running.disposeAsync(),
  };
}
