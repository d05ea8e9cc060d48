import { expect } from "chai";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { gzipSync } from "node:zlib";
import { axeViolations } from "./axeViolations.ts";
import { checkLimits, type RecordedLayouts } from "./pageLayout.ts";
import { type RecordedPictures, takePicture } from "./pagePicture.ts";
import { unexplainedTerms } from "./unexplainedTerms.ts";

/** The widths, in pixels, and colors in which every page is checked. */
export const VIEWS = [390, 1280].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ viewport: { width, height: 800 }, colorScheme })),
);

/** The rules of axe whose results depend on colors. All others have the same results in light and dark. */
export const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/** Maximum Cumulative Layout Shift while a page loads. 0.1 counts as good. */
const MOST_SHIFT = 0.01;
interface Shift extends PerformanceEntry {
  value: number;
  sources: { node: (Node & { textContent: string }) | null }[];
}

/**
 * Checks a page in all views: every term is explained, axe finds no violation, and nothing is wider than the window.
 * Its layout and its pictures are also compared with the recorded ones.
 * @param state the name in messages, and in the names of files
 * @param known terms that an earlier page explained
 */
export async function checkInAllViews(
  page: Page,
  state: string,
  recorded: { layouts: RecordedLayouts; pictures: RecordedPictures },
  known: readonly string[] = [],
): Promise<void> {
  for (const { viewport, colorScheme } of VIEWS) {
    await page.setViewportSize(viewport);
    // With reduced motion, colors change immediately.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // Wait for two frames. The first one draws the page with the new width.
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    const where = `${state}, ${viewport.width} pixels, ${colorScheme}`;
    const rules = colorScheme === "light" ? {} : { runOnly: COLOR_RULES };
    expect(await axeViolations(page, rules), where).to.deep.equal([]);
    await checkLimits(page, where);
    // Colors do not change the layout.
    if (colorScheme === "light") await recorded.layouts.compare(page, `${state}, ${viewport.width}`);
    const name = `${state.replaceAll(/[^a-z]+/g, "-")}-${viewport.width}-${colorScheme}`;
    await recorded.pictures.compare(page, name);
    const { SCREENSHOTS: folder } = process.env;
    if (folder !== undefined) await takePicture(page, { path: join(folder, `${name}.png`) });
  }
  expect(await unexplainedTerms(page, known), state).to.deep.equal([]);
}

/** Checks that a page has moved nothing since it was loaded. */
export async function expectNothingMoved(page: Page, where: string): Promise<void> {
  const moved = await page.evaluate(
    () =>
      new Promise<[number, ...string[]][]>((resolve) => {
        new PerformanceObserver((list) => {
          const shifts = list.getEntries() as Shift[];
          resolve(
            shifts.map(({ value, sources }) => [
              value,
              ...sources.map(({ node }) => node?.textContent.slice(0, 50) ?? ""),
            ]),
          );
        }).observe({ type: "layout-shift", buffered: true });
        // The observer is not called without entries. Existing entries are reported before the next frame.
        setTimeout(() => {
          resolve([]);
        }, 100);
      }),
  );
  const sum = moved.reduce((sum, [value]) => sum + value, 0);
  expect(sum, `${where}: ${JSON.stringify(moved)}`).to.be.at.most(MOST_SHIFT);
}

/** Returns the total gzipped size of a folder's scripts with names that begin with one of these words. */
export async function gzippedSize(folder: string, starts: readonly string[]): Promise<number> {
  const names = (await readdir(folder)).filter(
    (name) => name.endsWith(".js") && starts.some((start) => name.startsWith(start)),
  );
  const sizes = await Promise.all(names.map(async (name) => gzipSync(await readFile(join(folder, name))).length));
  return sizes.reduce((sum, size) => sum + size, 0);
}
