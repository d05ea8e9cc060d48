import { expect } from "chai";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { gzipSync } from "node:zlib";
import { everything } from "../everything.ts";
import { axeViolations } from "./axeViolations.ts";
import { checkLimits, type RecordedLayouts } from "./pageLayout.ts";
import { docsPictureOf, type RecordedPictures, takePicture } from "./pagePicture.ts";
import { unexplainedTerms } from "./unexplainedTerms.ts";

/** The widths, in pixels, and the colors of every page. */
export const VIEWS = [390, 1280].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ viewport: { width, height: 800 }, colorScheme })),
);
type View = (typeof VIEWS)[number];

/** The name of a recorded picture. */
const pictureOf = (state: string, { viewport, colorScheme }: View) =>
  `${state.replaceAll(/[^a-z]+/g, "-")}-${viewport.width}-${colorScheme}`;

/**
 * The views in which a state is checked: both widths, each in one of the two color schemes. Which scheme belongs to
 * which width depends on the state, so that the parts that all pages share are checked in every view. All four views
 * are checked every night, whenever pictures are taken, and in states that the documentation shows.
 */
export function viewsOf(state: string): readonly View[] {
  const takesPictures = process.env["UPDATE_LAYOUTS"] === "1" || process.env["SCREENSHOTS"] !== undefined;
  if (everything || takesPictures || VIEWS.some((view) => docsPictureOf(pictureOf(state, view)))) return VIEWS;
  const isWideLight = state.length % 2 === 0;
  return VIEWS.filter(({ viewport, colorScheme }) => (colorScheme === "light") === (viewport.width > 390 === isWideLight));
}

/** The rules of axe whose results depend on colors. All others have the same results in light and dark. */
export const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/** Runs axe on a page in one of these views: all rules in the first view of each width, the rules about colors in the others. */
export function axeViolationsIn(page: Page, view: View, views: readonly View[]): Promise<string[]> {
  return axeViolations(page, isFirstOfWidth(view, views) ? {} : { runOnly: COLOR_RULES });
}

function isFirstOfWidth(view: View, views: readonly View[]): boolean {
  return views.find(({ viewport }) => viewport.width === view.viewport.width) === view;
}

/** Maximum Cumulative Layout Shift while a page loads. 0.1 counts as good. */
const MOST_SHIFT = 0.01;
interface Shift extends PerformanceEntry {
  value: number;
  sources: { node: (Node & { textContent: string }) | null }[];
}

/**
 * Checks a page in the views of its state: every term is explained, axe finds no violation, and nothing is wider than the window.
 * Its layout and its pictures are also compared with the recorded ones.
 * @param state the name in messages, and in the names of files
 * @param known terms that an earlier page explained
 */
export async function checkViews(
  page: Page,
  state: string,
  recorded: { layouts: RecordedLayouts; pictures: RecordedPictures },
  known: readonly string[] = [],
): Promise<void> {
  const views = viewsOf(state);
  for (const view of views) {
    const { viewport, colorScheme } = view;
    await page.setViewportSize(viewport);
    // With reduced motion, colors change immediately.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // Wait for two frames. The first one draws the page with the new width.
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    const where = `${state}, ${viewport.width} pixels, ${colorScheme}`;
    expect(await axeViolationsIn(page, view, views), where).to.deep.equal([]);
    await checkLimits(page, where);
    // Colors do not change the layout.
    if (isFirstOfWidth(view, views)) await recorded.layouts.compare(page, `${state}, ${viewport.width}`);
    const name = pictureOf(state, view);
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
