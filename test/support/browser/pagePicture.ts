import { expect } from "chai";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, CDPSession, Page } from "playwright-core";

/** The columns and rows of a recorded picture. Each cell is the average color of its part of the page. */
const CELLS = 24;
/** A cell differs if a channel of its color, 0 to 255, differs by more than this. */
const CELL_TOLERANCE = 24;
/** Maximum share of the cells that differ: the texts contain ids and times, and fonts differ between machines. */
export const MOST_DIFFERENT = 0.1;

/**
 * Recorded pictures of pages, in PNG files of 24 x 24 pixels beside the tests. They show what a layout does not: colors, and whether large
 * parts are drawn. With UPDATE_LAYOUTS=1, they are written.
 */
export class RecordedPictures {
  readonly #folder: string;

  /** @param name such as `dashboard`, for test/web/pictures/dashboard */
  constructor(name: string) {
    this.#folder = join(import.meta.dirname, "../../web/pictures", name);
  }

  /**
   * Compares a picture of a page with the recorded one.
   * @param name the name of its file, without `.png`
   */
  async compare(page: Page, name: string): Promise<void> {
    const { png, share } = await this.read(page, name);
    if (process.env["UPDATE_LAYOUTS"] === "1") {
      mkdirSync(this.#folder, { recursive: true });
      // A picture that still passes is kept, so that a change has few new files.
      if (share > MOST_DIFFERENT / 2) writeFileSync(this.#pathOf(name), png);
      return;
    }
    const remedy = "Look at both (npm run screenshots). If the change is intended, run the test with UPDATE_LAYOUTS=1.";
    expect(share, `${this.#pathOf(name)}: the share that differs. ${remedy}`).to.be.at.most(MOST_DIFFERENT);
  }

  /** Takes a picture of a page. @returns its small PNG, and the share of cells that differ: 1 without a recorded one */
  async read(page: Page, name: string): Promise<{ png: Uint8Array; share: number }> {
    const path = this.#pathOf(name);
    const pictures = [await halfSizePicture(page), ...(existsSync(path) ? [readFileSync(path, "base64")] : [])];
    const [small, recorded] = await shrink(page, pictures);
    if (small === undefined) throw new Error("There is no picture.");
    return { png: small.png, share: recorded === undefined ? 1 : shareOfDifferent(small.pixels, recorded.pixels) };
  }

  #pathOf(name: string): string {
    return join(this.#folder, `${name}.png`);
  }
}

/** The share of cells whose colors differ. @param a and `b`: red, green, blue and opacity of each cell */
function shareOfDifferent(a: readonly number[], b: readonly number[]): number {
  const different = new Set<number>();
  for (const [i, value] of a.entries()) {
    if (Math.abs(value - (b[i] ?? 0)) > CELL_TOLERANCE) different.add(i >> 2);
  }
  return different.size / CELLS ** 2;
}

/** Takes a picture of a page in half its size, which takes a third of the time of a whole one. @returns a PNG in base64 */
async function halfSizePicture(page: Page): Promise<string> {
  const chromium = await sessionOf(page);
  const { cssContentSize, cssVisualViewport } = await chromium.send("Page.getLayoutMetrics");
  const { pageX: x, pageY: y, clientWidth: width, clientHeight: height } = cssVisualViewport;
  // Beside an open dialog, only the visible part of the page is dimmed.
  const part = (await page.locator("dialog[open]").count()) === 0 ? cssContentSize : { x, y, width, height };
  const options = { captureBeyondViewport: true, optimizeForSpeed: true, clip: { ...part, scale: 0.5 } };
  const { data } = await chromium.send("Page.captureScreenshot", options);
  return data;
}

const sessions = new WeakMap<Page, Promise<CDPSession>>();

/** One session per page, which stays open: its end would also end the page's virtual passkeys. */
function sessionOf(page: Page): Promise<CDPSession> {
  const session = sessions.get(page) ?? page.context().newCDPSession(page);
  sessions.set(page, session);
  return session;
}

/** Makes pictures small, in Chromium. @param pictures PNGs in base64 */
async function shrink(page: Page, pictures: readonly string[]): Promise<{ png: Uint8Array; pixels: number[] }[]> {
  const blank = await blankPage(page);
  const small = await blank.evaluate(
    ([pictures, cells]) =>
      Promise.all(
        pictures.map(async (base64) => {
          const blob = await (await fetch(`data:image/png;base64,${base64}`)).blob();
          const size = { resizeWidth: cells, resizeHeight: cells, resizeQuality: "high" } as const;
          const small = await createImageBitmap(blob, size);
          const canvas = new OffscreenCanvas(cells, cells);
          const context = canvas.getContext("2d");
          context?.drawImage(small, 0, 0);
          const bytes = await (await canvas.convertToBlob()).arrayBuffer();
          const pixels = [...(context?.getImageData(0, 0, cells, cells).data ?? [])];
          return { png: [...new Uint8Array(bytes)], pixels };
        }),
      ),
    [pictures, CELLS] as const,
  );
  return small.map(({ png, pixels }) => ({ png: Uint8Array.from(png), pixels }));
}

const blanks = new WeakMap<Browser, Promise<Page>>();

/** One blank page per browser: the policy of the tested page allows no other picture. */
async function blankPage(tested: Page): Promise<Page> {
  const browser = tested.context().browser();
  if (browser === null) throw new Error("The page has no browser.");
  const known = blanks.get(browser);
  if (known !== undefined) return known;
  const blank = browser.newPage();
  blanks.set(browser, blank);
  await blank;
  // Passkeys work only on the page in front.
  await tested.bringToFront();
  return blank;
}
