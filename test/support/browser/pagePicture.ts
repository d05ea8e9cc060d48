import { expect } from "chai";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { Browser, CDPSession, Page, PageScreenshotOptions } from "playwright-core";

/** The columns and rows of a recorded picture, in which each cell is the average color of its part of the page. */
const CELLS = 24;
/** A cell differs if a channel of its color, 0 to 255, differs by more than this. */
const CELL_TOLERANCE = 24;
/** Maximum share of cells that may differ. The texts contain ids and times, and fonts differ between machines. */
export const MOST_DIFFERENT = 0.1;

/** The pictures in `docs/images`, by the states that they show. Each also has a variant for dark pages. */
const DOCS_PICTURES: Readonly<Record<string, string>> = {
  "dashboard-an-approval-1280": "dashboard-decision",
  "dashboard-the-overview-with-something-to-do-1280": "dashboard-overview",
  "dashboard-publishing-1280": "dashboard-publishing",
  "dashboard-a-webhook-1280": "dashboard-webhook",
  "a-forged-file-1280": "explorer-attack",
  "a-batch-1280": "explorer-batch",
};

/** Takes a picture of a page without animations. */
export async function takePicture(page: Page, options: PageScreenshotOptions): Promise<Buffer> {
  // Beside an open dialog, only the visible part of the page is dimmed.
  const fullPage = (await page.locator("dialog[open]").count()) === 0;
  return page.screenshot({ fullPage, animations: "disabled", ...options });
}

/**
 * Recorded pictures of pages, in PNG files of 24 x 24 pixels beside the tests. They reveal wrong colors and missing
 * parts, which a layout does not. With UPDATE_LAYOUTS=1, `compare` writes them.
 */
export class RecordedPictures {
  readonly #folder: string;

  /** @param name such as `dashboard`, for test/web/pictures/dashboard */
  constructor(name: string) {
    this.#folder = join(import.meta.dirname, "../../web/pictures", name);
  }

  /**
   * Compares a picture of a page with the recorded picture.
   * @param name the name of its file, without `.png`
   */
  async compare(page: Page, name: string): Promise<void> {
    await checkDocsPicture(page, name);
    const { png, share } = await this.read(page, name);
    if (process.env["UPDATE_LAYOUTS"] === "1") {
      mkdirSync(this.#folder, { recursive: true });
      // A picture that still passes is kept, so that a change has few new files.
      if (share > MOST_DIFFERENT / 2) writeFileSync(this.#pathOf(name), png, "base64");
      return;
    }
    const remedy =
      "Look at the pictures of 'npm run screenshots'. If the change is intended, run the test with UPDATE_LAYOUTS=1.";
    expect(share, `${this.#pathOf(name)}: the share that differs. ${remedy}`).to.be.at.most(MOST_DIFFERENT);
  }

  /**
   * Takes a picture of a page.
   * @returns its small PNG in base64, and the share of cells that differ, which is 1 without a recorded picture
   */
  async read(page: Page, name: string): Promise<{ png: string; share: number }> {
    const path = this.#pathOf(name);
    return compareSmall(page, path);
  }

  #pathOf(name: string): string {
    return join(this.#folder, `${name}.png`);
  }
}

/**
 * Checks that the documentation's picture of this state, if there is one, shows the page as it is now. If it does not,
 * UPDATE_LAYOUTS=1 takes it again.
 */
async function checkDocsPicture(page: Page, name: string): Promise<void> {
  const file = DOCS_PICTURES[name.replace(/-(?:light|dark)$/, "")];
  if (file === undefined) return;
  const variant = name.endsWith("-dark") ? "-dark" : "";
  const path = join(import.meta.dirname, `../../../docs/images/${file}${variant}.webp`);
  const { share } = await compareSmall(page, path);
  const isUpdated = process.env["UPDATE_LAYOUTS"] === "1" && share > MOST_DIFFERENT / 2;
  // A picture in WebP has a quarter of the size of one in PNG.
  if (isUpdated) writeFileSync(path, await capture(page, { format: "webp", quality: 82, scale: 1 }), "base64");
  else
    expect(share, `${path} is older than the page. Run the test with UPDATE_LAYOUTS=1.`).to.be.at.most(MOST_DIFFERENT);
}

const sessions = new WeakMap<Page, Promise<CDPSession>>();

interface Capture {
  format: "jpeg" | "webp";
  quality: number;
  /** The picture's pixels for each pixel of the page, in each direction. */
  scale: number;
}

/** Takes a picture of a whole page, or of its visible part beside an open dialog. @returns the picture in base64 */
async function capture(page: Page, { scale, ...image }: Capture): Promise<string> {
  const session = sessions.get(page) ?? page.context().newCDPSession(page);
  sessions.set(page, session);
  const { isWhole, ...part } = await page.evaluate(() => {
    // Beside an open dialog, only the visible part of the page is dimmed.
    if (document.querySelector("dialog[open]") !== null)
      return { isWhole: false, x: scrollX, y: scrollY, width: innerWidth, height: innerHeight };
    const { scrollWidth: width, scrollHeight: height } = document.documentElement;
    return { isWhole: true, x: 0, y: 0, width, height };
  });
  const options = { ...image, captureBeyondViewport: isWhole, clip: { ...part, scale } };
  const { data } = await (await session).send("Page.captureScreenshot", options);
  return data;
}

/**
 * Takes a picture of a page, makes it smaller, and compares it in Chromium with a recorded picture.
 * @param path the path of the recorded picture, which may be missing
 */
async function compareSmall(tested: Page, path: string): Promise<{ png: string; share: number }> {
  // Chromium makes a picture with a sixteenth of the page's pixels faster.
  const picture = await capture(tested, { format: "jpeg", quality: 90, scale: 0.25 });
  const blank = await blankPage(tested);
  const addresses = [`data:image/jpeg;base64,${picture}`];
  const isRecorded = existsSync(path);
  if (isRecorded) addresses.push(`data:image/${extname(path).slice(1)};base64,${readFileSync(path, "base64")}`);
  return blank.evaluate(
    async ([addresses, cells, tolerance]) => {
      const drawn = addresses.map(async (address) => {
        const blob = await (await fetch(address)).blob();
        const size = { resizeWidth: cells, resizeHeight: cells, resizeQuality: "high" } as const;
        const canvas = Object.assign(document.createElement("canvas"), { width: cells, height: cells });
        const context = canvas.getContext("2d", { willReadFrequently: true });
        context?.drawImage(await createImageBitmap(blob, size), 0, 0);
        // The red, green, blue and opacity of each cell.
        return { png: canvas.toDataURL(), pixels: context?.getImageData(0, 0, cells, cells).data ?? [] };
      });
      const [small, other] = await Promise.all(drawn);
      const different = new Set<number>();
      for (const [i, value] of (small?.pixels ?? []).entries()) {
        if (Math.abs(value - (other?.pixels[i] ?? 0)) > tolerance) different.add(i >> 2);
      }
      const png = small?.png.replace(/^.*,/, "") ?? "";
      return { png, share: other === undefined ? 1 : different.size / cells ** 2 };
    },
    [addresses, CELLS, CELL_TOLERANCE] as const,
  );
}

const blanks = new WeakMap<Browser, Promise<Page>>();

/**
 * Returns a blank page, one per browser. It is needed because the tested page's policy does not allow it to load
 * pictures.
 */
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
