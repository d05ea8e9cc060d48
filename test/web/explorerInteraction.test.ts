import { expect } from "chai";
import type { Page } from "playwright-core";
import { eventually } from "../support/browser/eventually.ts";
import { done, dropFile } from "../support/browser/explorerStates.ts";
import { sharedExplorer } from "../support/browser/sharedExplorer.ts";
import { describeIfNamed } from "../support/named.ts";

describeIfNamed(import.meta.filename)("controls of the explorer", () => {
  const explorer = sharedExplorer();
  const { world } = explorer;

  describe("on the page of a batch", () => {
    const openBatch = async (options = {}) => {
      const opened = await world.open(`${explorer.url}#/batch/${world.root}`, options);
      const canvas = opened.page.locator("canvas");
      await canvas.waitFor();
      // The tree reacts to clicks and the wheel only after it is drawn.
      await opened.page.waitForFunction(() => performance.getEntriesByName("keyroot: batch drawn").length > 0);
      return { ...opened, canvas };
    };
    /** Waits until this many leaves are in view. */
    const shows = (page: Page, span: number) =>
      page.waitForFunction((span) => Number(document.querySelector("canvas")?.dataset["span"]) === span, span);
    const isSelected = (page: Page, name: string | RegExp) =>
      page.locator(".selection").getByRole("heading", { name, exact: true }).waitFor();

    it("move from node to node with the arrow keys", async () => {
      const { page, canvas } = await openBatch();
      await canvas.focus();
      for (const [key, name] of [
        ["ArrowDown", "The root"],
        ["ArrowDown", "Node 1 of level 3"],
        ["ArrowRight", "Node 2 of level 3"],
        ["ArrowUp", "The root"],
        ["ArrowLeft", "The root"],
      ] as const) {
        await page.keyboard.press(key);
        await isSelected(page, name);
      }
    });

    it("zoom the tree with the keyboard, buttons and wheel", async () => {
      const { page, canvas } = await openBatch({ reducedMotion: "reduce" });
      const whole = world.records.length;
      await shows(page, whole);
      await canvas.focus();
      await page.keyboard.press("+");
      await shows(page, whole / 1.6);
      await page.keyboard.press("-");
      await shows(page, whole);
      await page.getByRole("button", { name: "Zoom in" }).click();
      await shows(page, whole / 1.6);
      await page.getByRole("button", { name: "Show the whole tree" }).click();
      await shows(page, whole);
      await canvas.hover();
      await page.mouse.wheel(0, -300);
      await page.waitForFunction((whole) => Number(document.querySelector("canvas")?.dataset["span"]) < whole, whole);
      await canvas.focus();
      await page.keyboard.press("0");
      await shows(page, whole);
    });

    it("zoom the tree without animation if the visitor prefers reduced motion", async () => {
      const { page, canvas } = await openBatch({ reducedMotion: "reduce" });
      await page.evaluate(() => {
        const spans: string[] = [];
        Object.assign(globalThis, { spans });
        new MutationObserver((changes) => {
          for (const { target } of changes) spans.push((target as HTMLElement).dataset["span"] ?? "");
        }).observe(document.querySelector("canvas") as Node, { attributeFilter: ["data-span"] });
      });
      await canvas.focus();
      const { length } = world.records;
      await page.keyboard.press("+");
      await shows(page, length / 1.6);
      await page.keyboard.press("0");
      await shows(page, length);
      expect(await page.evaluate("spans")).to.deep.equal([String(length / 1.6), String(length)]);
      const transition = await page.$eval(".icon-button", (button) => getComputedStyle(button).transitionDuration);
      expect(transition).to.equal("0s");
    });

    it("select a clicked node", async () => {
      const { page, canvas } = await openBatch();
      const box = (await canvas.boundingBox()) ?? { width: 0, height: 0 };
      await canvas.click({ position: { x: box.width / 2, y: box.height / 10 } });
      await isSelected(page, "The root");
      await canvas.click({ position: { x: 5, y: box.height - 5 } });
      await isSelected(page, "Leaf 1");
    });

    it("find a record by a part of its user id or key id", async () => {
      const { userID, keyID } = world.victim;
      const { page } = await openBatch();
      for (const [part, id] of [
        [userID.slice(5, 20), userID],
        [keyID, keyID],
      ] as const) {
        await page.getByLabel("Find a user or key").fill(part);
        await page.keyboard.press("Enter");
        await isSelected(page, /^Leaf \d+$/);
        await page.locator(".selection").getByText(id).waitFor();
      }
    });

    it("list all records with links to their verification", async () => {
      const { page } = await openBatch();
      await page.getByText("The same as text").click();
      await page.locator("tbody a").first().waitFor();
      const users = await page.$$eval("tbody a", (links) => links.map(({ textContent }) => textContent));
      expect(users).to.have.members(world.records.map(({ userID }) => userID));
    });
  });

  it("open a bundle that is dropped on any page", async () => {
    const { userID } = world.victim;
    const { bundle } = await world.makeBundle();
    const { page, complaints } = await world.open(`${explorer.url}#/verify/${userID}`);
    // The page accepts files after it is drawn.
    await done(page);
    await dropFile(page, JSON.stringify(bundle));
    await page.getByText("dropped.json contains a claim about the user").waitFor();
    expect(page.url()).to.equal(`${explorer.url}#/bundle`);
    expect(complaints).to.deep.equal([]);
  });

  it("say of any other dropped file that it is not a bundle, and nothing about a key", async () => {
    const { page } = await world.open(explorer.url);
    await page.getByRole("heading", { level: 1 }).waitFor();
    for (const content of ["hello", "{}", "[1, 2]"]) {
      await dropFile(page, content);
      await page.locator("[data-verdict=open]").getByText("This file is not a bundle").waitFor();
      expect(await page.innerText("main")).not.to.contain("Do not use this key");
    }
  });

  it("open a Merkle-tree file that is dropped on any page", async () => {
    const { page, complaints } = await world.open(explorer.url);
    await page.getByRole("heading", { level: 1 }).waitFor();
    const text = await (await fetch(`${world.stack.merkleUrl}/${world.root}.json`)).text();
    await dropFile(page, text);
    await page.locator("canvas").waitFor();
    expect(page.url()).to.equal(`${explorer.url}#/batch/${world.root}`);
    // The file names a root that does not match its records.
    await dropFile(page, text.replaceAll(world.root, "12".repeat(32)));
    await page.getByText("This file cannot be shown").waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it("focus the verdict after the visitor chooses other evidence", async () => {
    const { page } = await world.open(`${explorer.url}#/verify/${world.victim.userID}`, {
      viewport: { width: 360, height: 800 },
    });
    await page.getByLabel("Source of the block").selectOption("A block that I trust");
    await page.getByLabel("Block hash").fill(await world.latestHash());
    await page.getByRole("button", { name: "Verify with this evidence" }).click();
    await page.getByText("a storage proof under the block hash that you entered").waitFor();
    await eventually(async () => {
      expect(await page.evaluate(() => document.activeElement?.id)).to.equal("verdict");
      const top = await page.$eval("#verdict", (verdict) => verdict.getBoundingClientRect().top);
      expect(top).to.be.within(0, 800);
    });
  });

  it("print a receipt of the verdict instead of the page", async () => {
    const { lightClient } = world.lightClientConfig();
    const url = await world.serve({ lightClient });
    const { userID, keyID, pubKey } = world.victim;
    const { page } = await world.open(`${url}#/verify/${userID}`);
    await done(page);
    const receipt = page.locator(".receipt");
    expect(await receipt.isVisible()).to.equal(false);
    await page.evaluate(() => {
      window.print = () => {
        document.body.dataset["printed"] = "yes";
      };
    });
    await page.getByRole("button", { name: "Print a receipt" }).click();
    await page.locator('body[data-printed="yes"]').waitFor();
    await page.emulateMedia({ media: "print" });
    const text = await receipt.innerText();
    expect(text).to.contain("This is the user’s published key").and.contain("proven, Ethereum’s light client");
    for (const part of [userID, keyID, pubKey, world.stack.contract, `${url}#/verify/${userID}/light-client`])
      expect(text).to.contain(part);
    expect(text).to.match(/Block\s+[\d,]+ of .*\s+0x[0-9a-f]{64}/);
    for (const part of ["header", "footer", ".verdict", ".key-card"])
      expect(await page.locator(part).first().isVisible(), part).to.equal(false);
    await page.goto(`${url}#/`);
    await page.getByRole("heading", { name: "Is this really their key?" }).waitFor();
    expect(await page.locator("header").first().isVisible()).to.equal(true);
  });

  it("explain a term with the keyboard", async () => {
    const { page } = await world.open(explorer.url);
    const explanation = page.getByText("Others use it to encrypt messages");
    expect(await explanation.count()).to.equal(0);
    await page.getByRole("button", { name: "public key" }).focus();
    await page.keyboard.press("Enter");
    await explanation.waitFor();
    await page.keyboard.press("Escape");
    await explanation.waitFor({ state: "hidden" });
  });

  it("show which control has the focus", async () => {
    const { page } = await world.open(explorer.url);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).to.equal("Skip to the content");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.id === "main");
    const withoutOutline: string[] = [];
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press("Tab");
      const found = await page.evaluate(() => {
        const element = document.activeElement ?? document.body;
        return getComputedStyle(element).outlineStyle === "none" ? element.outerHTML : undefined;
      });
      if (found !== undefined) withoutOutline.push(found);
    }
    expect(withoutOutline).to.deep.equal([]);
  });
});
