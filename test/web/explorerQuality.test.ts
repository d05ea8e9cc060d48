import { expect } from "chai";
import { join } from "node:path";
import type { Page, Request } from "playwright-core";
import { click, sees } from "../support/browser/controls.ts";
import { done, EXPLORER_STATES, goToState, openState } from "../support/browser/explorerStates.ts";
import type { ExplorerWorld } from "../support/browser/explorerWorld.ts";
import { observedPage, type ObservedPage } from "../support/browser/observedPage.ts";
import { checkInAllViews, expectNothingMoved, gzippedSize, VIEWS } from "../support/browser/pageQuality.ts";
import { RecordedLayouts } from "../support/browser/pageLayout.ts";
import { MOST_DIFFERENT, RecordedPictures } from "../support/browser/pagePicture.ts";
import { sharedExplorer } from "../support/browser/sharedExplorer.ts";
import { describeIfNamed } from "../support/named.ts";

const ASSETS = join(import.meta.dirname, "../../packages/operator/site/explorer/assets");
/** Maximum gzipped size of the scripts that the first verification needs, in bytes. */
const SCRIPT_LIMIT = 74_000;
/** The same limit for explorers that are configured with auditors or the light client, which need signature code. */
const SIGNED_LIMIT = 114_000;
/** Maximum bytes on the wire until a visitor can enter a user id: the page, its style and scripts, and the registry's state. */
const START_LIMIT = 90_000;

describeIfNamed(import.meta.filename)("explorer pages", () => {
  const explorer = sharedExplorer();
  const { world } = explorer;
  const layouts = new RecordedLayouts("explorer");
  const pictures = new RecordedPictures("explorer");

  /** A page that goes through all states without other settings, because each new page loads the explorer and axe. */
  let visitor: ObservedPage;

  before(async () => {
    visitor = await world.open(explorer.url);
  });
  after(() => visitor[Symbol.asyncDispose]());
  after(() => {
    layouts.save();
  });

  for (const [name, state] of Object.entries(EXPLORER_STATES)) {
    it(`meet the layout and accessibility rules in the state "${name}"`, async () => {
      if (state.config === undefined) {
        await visitor.page.setViewportSize({ width: 390, height: 800 });
        await goToState(world, explorer.url, visitor.page, state);
        await checkInAllViews(visitor.page, name, { layouts, pictures });
      } else {
        const { page } = await openState(world, explorer.url, state, VIEWS[0]);
        await checkInAllViews(page, name, { layouts, pictures });
      }
    });
  }

  for (const [what, damage] of Object.entries({
    "the stylesheet is missing": (page: Page) =>
      page.evaluate(() => {
        for (const sheet of document.styleSheets) sheet.disabled = true;
      }),
    "the colors are the dark ones": (page: Page) => page.emulateMedia({ colorScheme: "dark" }),
  })) {
    it(`differ from their recorded pictures if ${what}`, async () => {
      const { page } = await world.open(`${explorer.url}#/verify/${world.victim.userID}`, {
        viewport: { width: 1280, height: 800 },
        colorScheme: "light",
        reducedMotion: "reduce",
      });
      await done(page);
      const share = async () => (await pictures.read(page, "verified-1280-light")).share;
      expect(await share()).to.be.at.most(MOST_DIFFERENT);
      await damage(page);
      expect(await share()).to.be.above(MOST_DIFFERENT);
    });
  }

  for (const [name, path] of [
    ["a verified key", ({ victim }: ExplorerWorld) => `#/verify/${victim.userID}`],
    ["a user without a key", () => `#/verify/${"y".repeat(32)}`],
    ["the attacks", () => "#/attacks"],
    ["a batch", ({ root }: ExplorerWorld) => `#/batch/${root}`],
  ] as const) {
    for (const width of [390, 768, 1280]) {
      it(`keep their layout while they load ${name} at ${width} pixels`, async () => {
        const { page } = await world.open(explorer.url + path(world), { viewport: { width, height: 800 } });
        await done(page);
        await page.waitForTimeout(300);
        await expectNothingMoved(page, name);
      });
    }
  }

  for (const width of [390, 1280]) {
    it(`keep their layout while they load a user with an account at ${width} pixels`, async () => {
      const url = await world.serve(world.accountsConfig());
      const view = { viewport: { width, height: 800 } };
      const { page } = await world.open(`${url}#/verify/${world.accountUser.userID}`, view);
      await page.locator(".timeline time").nth(2).waitFor();
      await page.waitForTimeout(300);
      await expectNothingMoved(page, "a user with an account");
    });
  }

  for (const width of [390, 768, 1280]) {
    it(`keep their layout while they load the start page at ${width} pixels`, async () => {
      const { page } = await world.open(explorer.url, { viewport: { width, height: 800 } });
      await sees(page, "unproven answer");
      await page.waitForTimeout(300);
      await expectNothingMoved(page, "the start page");
    });
  }

  it("show a verification on one screen of 1280 x 800 pixels", async () => {
    const view = { viewport: { width: 1280, height: 800 } };
    const { page } = await world.open(`${explorer.url}#/verify/${world.victim.userID}`, view);
    await done(page);
    for (const part of [".verdict", ".key-card", ".evidence-card"]) {
      const box = await page.locator(part).boundingBox();
      expect((box?.y ?? Infinity) + (box?.height ?? 0), part).to.be.at.most(800);
    }
  });

  for (const [what, config] of [
    ["by default", () => ({})],
    ["for a registry with accounts", () => world.accountsConfig()],
    ["with the light client", () => world.lightClientConfig()],
  ] as const) {
    it(`start with at most ${START_LIMIT / 1000} kB on the wire ${what}`, async () => {
      const { page } = await observedPage(world.browser, {});
      const sizes: Promise<number>[] = [];
      const measure = async (request: Request) => (await request.sizes()).responseBodySize;
      page.on("requestfinished", (request) => sizes.push(measure(request)));
      await page.goto(await world.serve(config()));
      await sees(page, "unproven answer");
      await page.waitForLoadState("networkidle");
      const sum = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      expect(sum).to.be.above(40_000).and.at.most(START_LIMIT);
    });
  }

  it(`load at most ${SCRIPT_LIMIT / 1000} kB for unsigned blocks`, async () => {
    for (const worker of ["basic-", "evidence-", "safetyCode-"])
      expect(await gzippedSize(ASSETS, ["index-", worker]))
        .to.be.above(5000)
        .and.at.most(SCRIPT_LIMIT);
  });

  it(`load at most ${SIGNED_LIMIT / 1000} kB for signed blocks`, async () => {
    expect(await gzippedSize(ASSETS, ["index-", "signedBlock-"]))
      .to.be.above(SCRIPT_LIMIT)
      .and.at.most(SIGNED_LIMIT);
  });

  it("load the code for other key types only if they are configured with one", async () => {
    const url = await world.serve({ keyType: "x25519" });
    const { page, requests } = await world.open(`${url}#/verify/${world.victim.userID}`);
    await done(page);
    expect(await page.innerText("[data-verdict]")).to.contain("KEY_TYPE_MISMATCH");
    const workers = requests.filter((address) => /assets\/(?:complete|basic|evidence|signedBlock)-/.test(address));
    expect(workers.map((address) => /assets\/(\w+)-/.exec(address)?.[1])).to.deep.equal(["complete"]);
  });

  it("load the code for storage proofs only when it is needed", async () => {
    const { page, requests } = await world.open(`${explorer.url}#/verify/${world.victim.userID}`);
    await done(page);
    expect(requests.filter((address) => address.includes("evidence-"))).to.be.empty;
    await page.getByLabel("Source of the block").selectOption("A block that I trust");
    await page.getByLabel("Block hash").fill(await world.latestHash());
    await click(page, "Verify with this evidence");
    await sees(page, "a storage proof under the block hash that you entered");
    expect(requests.filter((address) => address.includes("evidence-"))).to.have.lengthOf(1);
  });
});
