import axe, { type AxeResults } from "axe-core";
import { expect } from "chai";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { gzipSync } from "node:zlib";
import { DashboardWorld } from "../support/browser/dashboardWorld.ts";
import { describeIfNamed } from "../support/named.ts";

const ASSETS = join(import.meta.dirname, "../../packages/operator/site/dashboard/assets");
/** The most that the scripts of the dashboard may have, in bytes after gzip. */
const SCRIPT_LIMIT = 110_000;

/** What leads from each state to the next one, as one person goes through them. */
const STEPS: readonly [state: string, act: (page: Page, name: string) => Promise<unknown>][] = [
  ["an invitation", (page) => page.getByRole("button", { name: "Accept the invitation" }).waitFor()],
  [
    "the first passkey",
    async (page) => {
      await page.getByRole("button", { name: "Accept the invitation" }).click();
      await page.getByRole("button", { name: "Add a passkey" }).waitFor();
    },
  ],
  [
    "the company",
    async (page) => {
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByText("not used since").waitFor();
    },
  ],
  [
    "a question",
    (page) =>
      page
        .getByRole("button", { name: /^Remove: / })
        .first()
        .click(),
  ],
  [
    "an invalid name",
    async (page) => {
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Invite a person" }).click();
      await page.getByRole("button", { name: "Create the link" }).click();
      await page.getByText("Enter a name.").waitFor();
    },
  ],
  [
    "a link that is shown once",
    async (page, name) => {
      await page.getByLabel("Name").fill(name);
      await page.getByRole("button", { name: "Create the link" }).click();
      await page.locator("[data-secret]").waitFor();
    },
  ],
  [
    "the servers",
    async (page) => {
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByRole("link", { name: "Servers" }).click();
      await page.getByRole("button", { name: "Create a server token" }).waitFor();
      await page
        .getByText(/no server token yet|active/)
        .first()
        .waitFor();
    },
  ],
  [
    "a token that is shown once",
    async (page) => {
      await page.getByRole("button", { name: "Create a server token" }).click();
      await page.getByRole("button", { name: "Create", exact: true }).click();
      await page.locator("[data-secret]").waitFor();
    },
  ],
  [
    "a failed call",
    async (page) => {
      await page.getByRole("button", { name: "Done" }).click();
      await page.route("**/api/**", (route) => route.abort());
      await page.reload();
      await page.getByRole("button", { name: "Try again" }).waitFor();
      await page.unroute("**/api/**");
    },
  ],
  [
    "signing in",
    async (page) => {
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("button", { name: "Sign in with a passkey" }).waitFor();
    },
  ],
];

describeIfNamed(import.meta.filename)("the dashboard's pages", function () {
  this.timeout(120_000);
  const world = new DashboardWorld();

  before(() => world.start());
  after(() => world.stop());

  for (const width of [360, 1440]) {
    for (const colorScheme of ["light", "dark"] as const) {
      it(`have no violation of axe in any state and nothing wider than ${width} pixels, ${colorScheme}`, async () => {
        const name = `${width} ${colorScheme}`;
        const view = { viewport: { width, height: 800 }, colorScheme };
        await using opened = await world.open(await world.invite(`Ada ${name}`), view);
        const { page } = opened;
        for (const [state, act] of STEPS) {
          await act(page, `Grace ${name}`);
          await page.evaluate(axe.source);
          const { violations } = await page.evaluate<AxeResults>("axe.run()");
          const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
          expect(found, state).to.deep.equal([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth), state).to.be.at.most(width);
          // `SCREENSHOTS=<folder>` keeps a picture of each state.
          const { SCREENSHOTS: folder } = process.env;
          const file = `dashboard-${state.replaceAll(" ", "-")}-${width}-${colorScheme}.png`;
          if (folder !== undefined) await page.screenshot({ path: join(folder, file) });
        }
      });
    }
  }

  it(`load at most ${SCRIPT_LIMIT / 1000} kB of scripts`, async () => {
    const scripts = (await readdir(ASSETS)).filter((name) => name.endsWith(".js"));
    const sizes = await Promise.all(scripts.map(async (name) => gzipSync(await readFile(join(ASSETS, name))).length));
    expect(sizes.reduce((sum, size) => sum + size, 0))
      .to.be.above(5000)
      .and.at.most(SCRIPT_LIMIT);
  });
});
