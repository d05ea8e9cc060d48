import type { AxeResults, RunOptions } from "axe-core";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

// Chromium reads the minified code in half the time of `axe.source`.
const SOURCE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Runs axe on a page. @returns the violated rules, each with the HTML of the elements that violate it */
export async function axeViolations(page: Page, options: RunOptions = {}): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(SOURCE);
  // By default, axe preloads stylesheets. Only an experimental rule needs them, and in pages that are opened from
  // files, axe cannot load them.
  const all = { resultTypes: ["violations"], preload: false, ...options };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(all)})`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
