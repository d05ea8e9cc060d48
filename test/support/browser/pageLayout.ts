import { expect } from "chai";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

/** Maximum height of a page at 1280 pixels, with 25 rows. */
const MOST_HEIGHT = 2500;
/** Maximum height of the header, in pixels: one row. */
const MOST_HEADER = 84;
/**
 * Fonts differ between machines, so heights may differ by this share of the recorded height, and by this many pixels.
 */
const TOLERANCE = { share: 0.2, pixels: 80 };

/** A part of a page in a recorded layout. */
interface Part {
  /** The heading, or the element's name. */
  name: string;
  width: number;
  height: number;
}

/** The layout of a page: its height and its parts from top to bottom. */
export interface PageLayout {
  height: number;
  parts: Part[];
}

/** Reads the layout of a page: its height, and the boxes of header, headings, cards, verdicts and tables. */
function readLayout(page: Page): Promise<PageLayout> {
  return page.evaluate(() => {
    const found = document.querySelectorAll(
      ".header, main h1, main .card, main .verdict, main table, main canvas, dialog",
    );
    const parts = [...found]
      .filter((element) => element.checkVisibility())
      .map((element) => {
        const { width, height } = element.getBoundingClientRect();
        const heading = element.matches("h1") ? element : element.querySelector("h2");
        const tag = element.classList[0] ?? element.tagName.toLowerCase();
        const name = `${tag}${heading === null ? "" : `: ${heading.firstChild?.textContent?.trim() ?? ""}`}`;
        return { name, width: Math.round(width), height: Math.round(height) };
      });
    return { height: document.documentElement.scrollHeight, parts };
  });
}

/**
 * Checks a page's limits: nothing is wider than the window, the header has one row, and the page is at most 2,500
 * pixels high.
 */
export async function checkLimits(page: Page, where: string): Promise<void> {
  const { width, viewport, cut } = await page.evaluate(() => ({
    width: document.documentElement.scrollWidth,
    viewport: innerWidth,
    cut: [...document.querySelectorAll("h1, h2, .badge, .button")]
      .filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth + 1)
      .filter((element) => getComputedStyle(element).overflowX !== "visible")
      .map((element) => element.textContent),
  }));
  expect(width, `${where}: the page's width`).to.be.at.most(viewport);
  expect(cut, `${where}: texts that do not fit`).to.deep.equal([]);
  const { height, parts } = await readLayout(page);
  const header = parts.find(({ name }) => name.startsWith("header"));
  expect(header?.height, `${where}: the header's height`).to.be.at.most(MOST_HEADER);
  // Parts that a person opened may be longer.
  const isOpened = (await page.locator("details.more[open]").count()) > 0;
  if (viewport >= 1280 && !isOpened) expect(height, `${where}: the page's height`).to.be.at.most(MOST_HEIGHT);
}

/**
 * Recorded layouts of pages, in a JSON file beside the tests. Layouts are compared instead of pixels, because pixels
 * depend on the machine's fonts and on every value in the page. With UPDATE_LAYOUTS=1, `save` writes the file.
 */
export class RecordedLayouts {
  readonly #path: string;
  readonly #recorded: Readonly<Record<string, PageLayout>>;
  readonly #seen: Record<string, PageLayout> = {};
  readonly #updates = process.env["UPDATE_LAYOUTS"] === "1";

  /** @param name such as `dashboard`, for test/web/layouts/dashboard.json */
  constructor(name: string) {
    this.#path = join(import.meta.dirname, `../../web/layouts/${name}.json`);
    this.#recorded = existsSync(this.#path)
      ? (JSON.parse(readFileSync(this.#path, "utf8")) as Record<string, PageLayout>)
      : {};
  }

  /**
   * Compares the page's layout with the recorded one, which must have the same parts in the same order and with about
   * the same sizes.
   */
  async compare(page: Page, where: string): Promise<void> {
    const layout = await readLayout(page);
    this.#seen[where] = layout;
    if (this.#updates) return;
    const recorded = this.#recorded[where];
    const remedy =
      "If the change is intended, look at the pictures of 'npm run screenshots'. Then run the test with UPDATE_LAYOUTS=1.";
    expect(
      layout.parts.map(({ name }) => name),
      `${where}: the page's parts. ${remedy}`,
    ).to.deep.equal(recorded?.parts.map(({ name }) => name));
    expectAbout(layout.height, recorded?.height, `${where}: the page's height. ${remedy}`);
    for (const [i, part] of layout.parts.entries()) {
      expectAbout(part.width, recorded?.parts[i]?.width, `${where}: the width of ${part.name}. ${remedy}`);
      expectAbout(part.height, recorded?.parts[i]?.height, `${where}: the height of ${part.name}. ${remedy}`);
    }
  }

  /** Writes the layouts, if they are updated. */
  save(): void {
    if (!this.#updates) return;
    const all = { ...this.#recorded, ...this.#seen };
    const lines = Object.keys(all)
      .sort()
      .map((name) => `  ${JSON.stringify(name)}: ${JSON.stringify(all[name])}`);
    writeFileSync(this.#path, `{\n${lines.join(",\n")}\n}\n`);
  }
}

function expectAbout(value: number, recorded = NaN, message: string): void {
  const most = Math.max(recorded * TOLERANCE.share, TOLERANCE.pixels);
  expect(Math.abs(value - recorded), `${message} It is ${value}, recorded ${recorded}`).to.be.at.most(most);
}
