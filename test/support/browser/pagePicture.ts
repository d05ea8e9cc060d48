import { expect } from "chai";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";

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
   * @returns the picture in full size
   */
  async compare(page: Page, name: string): Promise<Buffer> {
    const { picture, png, share } = await this.read(page, name);
    if (process.env["UPDATE_LAYOUTS"] === "1") {
      mkdirSync(this.#folder, { recursive: true });
      // A picture that still passes is kept, so that a change has few new files.
      if (share > MOST_DIFFERENT / 2) writeFileSync(this.#pathOf(name), png);
      return picture;
    }
    const remedy = "Look at both (npm run screenshots). If the change is intended, run the test with UPDATE_LAYOUTS=1.";
    expect(share, `${this.#pathOf(name)}: the share that differs. ${remedy}`).to.be.at.most(MOST_DIFFERENT);
    return picture;
  }

  /** Takes a picture of a page. @returns it in full size, its small PNG, and the share of cells that differ: 1 without a recorded one */
  async read(page: Page, name: string): Promise<{ picture: Buffer; png: Uint8Array; share: number }> {
    // Beside an open dialog, only the visible part of the page is dimmed.
    const fullPage = (await page.locator("dialog[open]").count()) === 0;
    const picture = await page.screenshot({ fullPage, animations: "disabled" });
    const { png, pixels } = await shrink(page, picture);
    const path = this.#pathOf(name);
    const recorded = existsSync(path) ? await shrink(page, readFileSync(path)) : undefined;
    return { picture, png, share: recorded === undefined ? 1 : shareOfDifferent(pixels, recorded.pixels) };
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

/** Makes a picture small, in Chromium. */
async function shrink(page: Page, picture: Buffer): Promise<{ png: Uint8Array; pixels: number[] }> {
  const blank = await blankPage(page);
  const { png, pixels } = await blank.evaluate(
    async ([base64, cells]) => {
      const blob = await (await fetch(`data:image/png;base64,${base64}`)).blob();
      const size = { resizeWidth: cells, resizeHeight: cells, resizeQuality: "high" } as const;
      const small = await createImageBitmap(blob, size);
      const canvas = new OffscreenCanvas(cells, cells);
      const context = canvas.getContext("2d");
      context?.drawImage(small, 0, 0);
      const bytes = await (await canvas.convertToBlob()).arrayBuffer();
      return { png: [...new Uint8Array(bytes)], pixels: [...(context?.getImageData(0, 0, cells, cells).data ?? [])] };
    },
    [picture.toString("base64"), CELLS] as const,
  );
  return { png: Uint8Array.from(png), pixels };
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
