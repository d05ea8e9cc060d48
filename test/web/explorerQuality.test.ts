import axe, { type AxeResults } from "axe-core";
import { expect } from "chai";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { done, EXPLORER_STATES, VIEWS } from "../../fixtures/browser/explorerStates.ts";
import type { ExplorerWorld } from "../../fixtures/browser/explorerWorld.ts";
import { sharedExplorer } from "../support/browser/explorerWorld.ts";
import { unexplainedTerms } from "../support/browser/unexplainedTerms.ts";
import { describeIfNamed } from "../support/named.ts";

const ASSETS = join(import.meta.dirname, "../../packages/operator/site/explorer/assets");
/** The most that the scripts of the first verification may have, in bytes after gzip. */
const SCRIPT_LIMIT = 70_000;

/** The most that a page may move while it loads, as Cumulative Layout Shift. 0.1 counts as good. */
const MOST_SHIFT = 0.01;

describeIfNamed(import.meta.filename)("the explorer's pages", function () {
  this.timeout(60_000);
  const explorer = sharedExplorer();
  const { world } = explorer;

  for (const [name, { path, act }] of Object.entries(EXPLORER_STATES)) {
    it(`${name}: has no violation of axe, nothing wider than the page, and no term without its explanation, in both widths and colors`, async () => {
      await using opened = await world.open(explorer.url + path(world), VIEWS[0]);
      const { page } = opened;
      await act?.(page, world);
      await page.evaluate(axe.source);
      for (const { viewport, colorScheme } of VIEWS) {
        await page.setViewportSize(viewport);
        // Reduced motion: colors change at once.
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        // Two frames: the first one draws what the new width changes.
        await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
        const { violations } = await page.evaluate<AxeResults>('axe.run({ resultTypes: ["violations"] })');
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
        expect(found, `${viewport.width} ${colorScheme}`).to.deep.equal([]);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(width, colorScheme).to.be.at.most(viewport.width);
      }
      expect(await unexplainedTerms(page)).to.deep.equal([]);
    });
  }

  for (const [name, path] of [
    ["a verified key", ({ victim }: ExplorerWorld) => `#/verify/${victim.userID}`],
    ["a user without a key", () => `#/verify/${"y".repeat(32)}`],
    ["a forged file", () => "#/attack/swapped-record"],
    ["a lying endpoint", () => "#/attack/other-chain"],
    ["a batch", ({ root }: ExplorerWorld) => `#/batch/${root}`],
  ] as const) {
    for (const width of [360, 768, 1440]) {
      it(`${name}: nothing moves while it loads, at ${width} pixels`, async () => {
        await using opened = await world.open(explorer.url + path(world), { viewport: { width, height: 800 } });
        const { page } = opened;
        await done(page);
        await page.waitForTimeout(300);
        const moved = await page.evaluate(
          () =>
            new Promise((resolve) => {
              new PerformanceObserver((list) => {
                resolve(
                  list.getEntries().reduce((sum, entry) => sum + (entry as unknown as { value: number }).value, 0),
                );
              }).observe({ type: "layout-shift", buffered: true });
              // There is no call without entries. Those that exist are reported before the next frame.
              setTimeout(() => {
                resolve(0);
              }, 100);
            }),
        );
        expect(moved).to.be.at.most(MOST_SHIFT);
      });
    }
  }

  it(`load at most ${SCRIPT_LIMIT / 1000} kB of scripts for the first verification, with any evidence`, async () => {
    const sizeOf = async (start: string) => {
      const name = (await readdir(ASSETS)).find((name) => name.startsWith(start) && name.endsWith(".js")) ?? "";
      return gzipSync(await readFile(join(ASSETS, name))).length;
    };
    for (const worker of ["basic-", "evidence-"]) {
      expect((await sizeOf("index-")) + (await sizeOf(worker))).to.be.at.most(SCRIPT_LIMIT);
    }
  });

  it("load the code for storage proofs only when it is needed", async () => {
    await using opened = await world.open(`${explorer.url}#/verify/${world.victim.userID}`);
    const { page, requests } = opened;
    await done(page);
    expect(requests.filter((address) => address.includes("evidence-"))).to.be.empty;
    await page.getByLabel("Require a storage proof").check();
    await page.getByRole("button", { name: "Verify with this evidence" }).click();
    await page.getByText("so the storage proof adds little").waitFor();
    expect(requests.filter((address) => address.includes("evidence-"))).to.have.lengthOf(1);
  });
});
