import { buildSite } from "@keyroot/web/build";
import { expect } from "chai";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { launchChromium } from "../support/browser/chromium.ts";
import { observedPage } from "../support/browser/observedPage.ts";
import { axeViolations } from "../support/browser/axeViolations.ts";
import { RecordedPictures, takePicture } from "../support/browser/pagePicture.ts";
import { COLOR_RULES, expectNothingMoved, VIEWS } from "../support/browser/pageQuality.ts";
import { describeIfNamed } from "../support/named.ts";
import { OPERATIONS } from "../support/service/operations.ts";
import { serviceOnPostgres } from "../support/service/support.ts";

const PAGES = [
  { path: "/docs", title: "Keyroot partner API", tags: ["public", "partner", "user"] },
  { path: "/docs/operator", title: "Keyroot operator API", tags: ["operator"] },
];
/** Maximum size of a page in bytes, and on the wire. */
const [MOST, MOST_COMPRESSED] = [400_000, 30_000];

describeIfNamed(import.meta.filename)("the API reference in Chromium", () => {
  const service = serviceOnPostgres();
  const pictures = new RecordedPictures("reference");
  let browser: Browser;

  before(async () => {
    await buildSite();
    browser = await launchChromium();
  });
  after(() => browser.close());

  for (const { path, title, tags } of PAGES) {
    it(`shows exactly the operations of its API, each with an example, without scripts: ${path}`, async () => {
      await using opened = await observedPage(browser, { javaScriptEnabled: false });
      const { page, complaints, requests } = opened;
      await page.goto(service.url + path);
      const shown = await page.locator(".operation header > code").allInnerTexts();
      const expected = OPERATIONS.filter(({ tag }) => tags.includes(tag)).map((operation) => `POST ${operation.path}`);
      expect(shown.filter((text) => text.startsWith("POST "))).to.have.members(expected);
      expect(await page.locator(".operation").count()).to.equal(shown.length);
      expect(await page.locator(".operation:not(:has(.code))").count()).to.equal(0);
      expect(await page.title()).to.equal(title);
      expect(requests.filter((url) => !url.startsWith("data:"))).to.deep.equal([service.url + path]);
      expect(complaints).to.deep.equal([]);
    });

    it(`links only to parts of the page, and each error code to its meaning: ${path}`, async () => {
      const html = await (await fetch(service.url + path)).text();
      const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id));
      const links = [...html.matchAll(/ href="#([^"]+)"/g)].map(([, id = ""]) => id);
      expect(links.filter((id) => !ids.has(id))).to.deep.equal([]);
      expect(html).to.match(/docs\/errors.md#serviceerror"><code>USER_UNKNOWN</);
    });

    it(`meets the layout and accessibility rules: ${path}`, async () => {
      await using opened = await observedPage(browser, {});
      const { page } = opened;
      await page.goto(service.url + path);
      await expectNothingMoved(page, path);
      for (const { viewport, colorScheme } of VIEWS) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        const where = `${title}, ${viewport.width} pixels, ${colorScheme}`;
        expect(await axeViolations(page, colorScheme === "light" ? {} : { runOnly: COLOR_RULES }), where).to.deep.equal(
          [],
        );
        expect(await page.evaluate(() => document.documentElement.scrollWidth), where).to.be.at.most(viewport.width);
      }
      // The whole page is too long for a picture, so the picture has the first operation of each group.
      await page.evaluate(() => {
        for (const part of document.querySelectorAll(".operation + .operation, .schema, .pages-menu li + li"))
          part.remove();
      });
      for (const { viewport, colorScheme } of VIEWS) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        const name = `${title.toLowerCase().replaceAll(" ", "-")}-${viewport.width}-${colorScheme}`;
        await pictures.compare(page, name);
        const { SCREENSHOTS: folder } = process.env;
        if (folder !== undefined) await takePicture(page, { path: join(folder, `${name}.png`) });
      }
    });

    it(`is small: ${path}`, async () => {
      const response = await fetch(service.url + path, { headers: { "Accept-Encoding": "gzip" } });
      expect(response.headers.get("content-encoding")).to.equal("gzip");
      expect(Number(response.headers.get("content-length"))).to.be.below(MOST_COMPRESSED);
      expect((await response.arrayBuffer()).byteLength).to.be.below(MOST);
    });
  }
});
