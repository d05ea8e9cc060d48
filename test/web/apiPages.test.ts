import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../support/browser/chromium.ts";
import { everything } from "../support/everything.ts";
import { describeIfNamed } from "../support/named.ts";
import { OPERATIONS } from "../support/service/operations.ts";
import { serviceOnPostgres } from "../support/service/support.ts";

const PAGES = [
  { path: "/docs", title: "Keyroot partner API", tags: ["public", "partner", "user"] },
  { path: "/docs/operator", title: "Keyroot operator API", tags: ["operator"] },
];

describeIfNamed(import.meta.filename)("the API's pages in Chromium", () => {
  const service = serviceOnPostgres();
  let browser: Browser;
  let page: Page;
  /** Messages in the browser's console, except for requests that fail as intended. */
  let complaints: string[];
  let requests: string[];

  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());

  for (const { path, title, tags } of PAGES) {
    describe(path, () => {
      // All tests of a page read the same page, because it takes long to load.
      before(async () => {
        page = await browser.newPage();
        complaints = [];
        requests = [];
        page.on("console", (message) => {
          if (["error", "warning"].includes(message.type())) complaints.push(message.text());
        });
        page.on("pageerror", (error) => complaints.push(error.message));
        page.on("request", (request) => requests.push(request.url()));
        await page.goto(service.url + path);
        await page.waitForSelector(".opblock");
      });
      after(() => page.close());

      it("shows exactly the operations of its API", async () => {
        const expected = OPERATIONS.filter(({ tag }) => tags.includes(tag)).map((operation) => operation.path);
        await page
          .locator(".opblock-summary-path")
          .nth(expected.length - 1)
          .waitFor();
        const shown = await page.$$eval(".opblock-summary-path", (paths) =>
          paths.filter((element) => !element.closest(".webhooks")).map((element) => element.getAttribute("data-path")),
        );
        expect(shown).to.have.members(expected).and.have.length(expected.length);
        expect(await page.title()).to.equal(title);
        expect(await page.textContent("h1, h2.title")).to.include(title);
      });

      it("logs no error when a reader opens and tries out operations", async () => {
        // Open one operation at a time, because the page renders all open operations again whenever one is opened. The
        // first one comes last, and stays open. All operations together take 30 s, so they are opened every night only.
        const every = await page.$$(".opblock");
        const operations = everything ? every : every.slice(0, 3);
        for (const operation of operations.toReversed()) {
          const summary = await operation.$(".opblock-summary-control");
          await summary?.click();
          await operation.waitForSelector(".opblock-body .responses-table");
          if (operation !== operations[0]) await summary?.click();
        }
        await page.click(".opblock .try-out__btn");
        await page.click(".opblock .execute");
        await page.waitForSelector(".live-responses-table .response-col_status");
        // The token in the example is rejected. Chromium logs this like any failed request.
        const others = complaints.filter((text) => !text.startsWith("Failed to load resource: the server responded"));
        expect(others).to.deep.equal([]);
        for (const url of requests) expect(url).to.match(new RegExp(`^(?:${service.url}/|data:image/)`));
      });

      it("shows no logo of a framework", async () => {
        expect(await page.$$(".topbar, img[alt*='Swagger'], img[src*='logo'], #swagger-ui svg[id*='logo']")).to.be
          .empty;
        const icons = await page.$$eval("link[rel='icon']", (links) => links.map((link) => link.getAttribute("href")));
        expect(icons).to.have.length(1);
        const icon = await (await fetch(new URL(icons[0] ?? "", page.url()))).text();
        expect(icon).to.match(/^<svg /);
      });
    });
  }
});
