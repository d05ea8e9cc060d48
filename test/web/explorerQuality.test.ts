import axe, { type AxeResults } from "axe-core";
import { expect } from "chai";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { gzipSync } from "node:zlib";
import { ExplorerWorld } from "../support/browser/explorerWorld.ts";
import { describeIfNamed } from "../support/named.ts";

const ASSETS = join(import.meta.dirname, "../../packages/operator/site/explorer/assets");
/** The most that the scripts of the first verification may have, in bytes after gzip. */
const SCRIPT_LIMIT = 70_000;

const VIEWS = [360, 1440].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ viewport: { width, height: 800 }, colorScheme })),
);

/** A page in a state, by its address, and what leads to the state. */
interface State {
  path: (world: ExplorerWorld) => string;
  act?: (page: Page) => Promise<unknown>;
}

const open = async (page: Page) => {
  for (const summary of await page.locator("summary").all()) await summary.click();
};
const done = (page: Page) => page.waitForSelector("[data-verdict]:not([data-verdict=busy])");

const STATES: Readonly<Record<string, State>> = {
  start: { path: () => "", act: open },
  "start with an invalid id": { path: () => "", act: (page) => page.getByRole("button", { name: "Verify" }).click() },
  verified: {
    path: ({ victim }) => `#/verify/${victim.userID}`,
    act: async (page) => {
      await done(page);
      await open(page);
    },
  },
  "verified, with a wrong pasted key": {
    path: ({ victim }) => `#/verify/${victim.userID}`,
    act: async (page) => {
      await done(page);
      await page.getByLabel("Compare with a key").fill("A".repeat(140));
    },
  },
  "verified, with an invalid block hash": {
    path: ({ victim }) => `#/verify/${victim.userID}`,
    act: async (page) => {
      await done(page);
      await page.getByLabel("A block that I trust").check();
      await page.getByRole("button", { name: "Verify with this evidence" }).click();
    },
  },
  "a forged file": { path: () => "#/attack/swapped-record", act: done },
  "an unusable server": { path: () => "#/attack/redirect", act: done },
  "the attacks": { path: () => "#/attacks" },
  "a bundle": { path: () => "#/bundle" },
  "an unreadable bundle": {
    path: () => "#/bundle",
    act: async (page) => {
      const file = { name: "b.json", mimeType: "application/json", buffer: Buffer.from("{}") };
      await page.locator("input[type=file]").setInputFiles(file);
      await done(page);
    },
  },
  "a batch": {
    path: ({ root, victim }) => `#/batch/${root}/${victim.userID}`,
    act: (page) => page.waitForSelector("canvas"),
  },
  "a missing batch": { path: () => `#/batch/${"0".repeat(64)}`, act: done },
  "no page": { path: () => "#/nothing" },
};

describeIfNamed(import.meta.filename)("the explorer's pages", function () {
  this.timeout(60_000);
  const world = new ExplorerWorld();
  let url: string;

  before(async function () {
    this.timeout(120_000);
    await world.start();
    url = await world.serve();
  });
  after(() => world.stop());

  for (const [name, { path, act }] of Object.entries(STATES)) {
    for (const view of VIEWS) {
      it(`${name}: has no violation of axe and nothing wider than ${view.viewport.width} pixels, ${view.colorScheme}`, async () => {
        await using opened = await world.open(url + path(world), view);
        const { page } = opened;
        await act?.(page);
        await page.evaluate(axe.source);
        const { violations } = await page.evaluate<AxeResults>("axe.run()");
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
        expect(found).to.deep.equal([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.be.at.most(view.viewport.width);
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
    await using opened = await world.open(`${url}#/verify/${world.victim.userID}`);
    const { page, requests } = opened;
    await done(page);
    expect(requests.filter((address) => address.includes("evidence-"))).to.be.empty;
    await page.getByLabel("Require a storage proof").check();
    await page.getByRole("button", { name: "Verify with this evidence" }).click();
    await page.getByText("so the storage proof adds little").waitFor();
    expect(requests.filter((address) => address.includes("evidence-"))).to.have.lengthOf(1);
  });
});
