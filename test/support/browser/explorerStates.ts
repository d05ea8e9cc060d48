import type { BrowserContextOptions, Page } from "playwright-core";
import { click, sees } from "./controls.ts";
import type { ExplorerConfig } from "@keyroot/operator/explorer";
import type { ExplorerWorld } from "./explorerWorld.ts";
import type { KeyRecord } from "keyroot/internal/identity";
import type { ObservedPage } from "./observedPage.ts";

/** The address of a page, and the actions that lead to a state of the page. */
interface State {
  path: (world: ExplorerWorld) => string;
  /** Settings that differ from the shared explorer's settings. */
  config?: (world: ExplorerWorld) => Partial<ExplorerConfig> | Promise<Partial<ExplorerConfig>>;
  act?: (page: Page, world: ExplorerWorld) => Promise<unknown>;
}

/** Waits for a result. */
export const done = (page: Page) => page.waitForSelector("[data-verdict]:not([data-verdict=busy])");

/** Drops a file on a page. */
export async function dropFile(page: Page, content: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], "dropped.json", { type: "application/json" }));
    return transfer;
  }, content);
  await page.dispatchEvent("main", "drop", { dataTransfer });
}

/** Chooses a contact list with some users. @param otherKey a false key for the second user */
async function chooseList(page: Page, records: readonly KeyRecord[], otherKey?: string): Promise<void> {
  const rows = records
    .slice(0, 4)
    .map(({ userID, pubKey }, i) => `${userID},${i === 1 ? (otherKey ?? pubKey) : pubKey}`);
  if (otherKey !== undefined) rows.push(`${"y".repeat(32)},`, "hello,");
  const buffer = Buffer.from(["userID,publicKey", ...rows].join("\n"));
  await page.locator("input[type=file]").setInputFiles({ name: "contacts.csv", mimeType: "text/csv", buffer });
  await done(page);
}

const verified = ({ victim }: ExplorerWorld) => `#/verify/${victim.userID}`;

/** Every page of the explorer in its states, by their names. */
export const EXPLORER_STATES: Readonly<Record<string, State>> = {
  start: { path: () => "", act: (page) => sees(page, "unproven answer") },
  "start with an invalid id": {
    path: () => "",
    act: async (page) => {
      await click(page, "Verify");
      await sees(page, "Enter a user id.");
    },
  },
  "start with an endpoint that does not answer": {
    config: () => Promise.resolve({ rpc: ["http://127.0.0.1:9"] }),
    path: () => "",
    act: (page) => sees(page, "Try again"),
  },
  verified: { path: verified, act: done },
  "verified by the light client": {
    config: (world) => world.lightClientConfig(),
    path: verified,
    act: async (page) => {
      await done(page);
      await page.locator("[data-step=anchor] summary").click();
    },
  },
  "verified by auditors": { config: (world) => world.auditorsConfig(), path: verified, act: done },
  "a light client without an endpoint": {
    config: ({ stack }) =>
      Promise.resolve({ lightClient: { urls: [stack.merkleUrl], checkpoint: `0x${"12".repeat(32)}` } }),
    path: verified,
    act: done,
  },
  "verified, with a step open": {
    path: verified,
    act: async (page) => {
      await done(page);
      await page.locator("[data-step=tree] summary").click();
    },
  },
  "verified, with all actions open": {
    path: verified,
    act: async (page) => {
      await done(page);
      for (const summary of await page.locator(".more > summary").all()) await summary.click();
    },
  },
  "verified, with a wrong pasted key": {
    path: verified,
    act: async (page) => {
      await done(page);
      await page.getByLabel("Compare with the key or key id that you have").fill("A".repeat(140));
      await sees(page, "Different key");
    },
  },
  "verified, with a wrong safety code": {
    path: verified,
    act: async (page, { records }) => {
      await done(page);
      const [own] = records;
      await page.getByText("Compare the safety code").click();
      await page.getByLabel("Your own user id").fill(own?.userID ?? "");
      await page.getByLabel("Your own public key").fill(own?.pubKey ?? "");
      await page.getByLabel("What the other app shows").fill("1".repeat(60));
      await page.locator("[data-verdict=bad] h2", { hasText: "Different key" }).waitFor();
    },
  },
  "verified, with a safety code": {
    path: verified,
    act: async (page, { records }) => {
      await done(page);
      const [own] = records;
      await page.getByText("Compare the safety code").click();
      await page.getByLabel("Your own user id").fill(own?.userID ?? "");
      await page.getByLabel("Your own public key").fill(own?.pubKey ?? "");
      await page.locator(".qr-code path").waitFor({ state: "attached" });
    },
  },
  "a user with an account": {
    config: (world) => world.accountsConfig(),
    path: ({ accountUser }) => `#/verify/${accountUser.userID}`,
    act: async (page) => {
      await done(page);
      await page.locator(".timeline time").nth(2).waitFor();
    },
  },
  "an account with an unauthorized key": {
    config: (world) => world.accountsConfig(),
    path: ({ overtakenID }) => `#/verify/${overtakenID}`,
    act: done,
  },
  "a contact list": { path: () => "#/list" },
  "a contact list with wrong keys": {
    path: () => "#/list",
    act: (page, { records }) => chooseList(page, records, "A".repeat(140)),
  },
  "a contact list with proven keys": {
    config: (world) => world.lightClientConfig(),
    path: () => "#/list",
    act: (page, { records }) => chooseList(page, records),
  },
  "verified, with an invalid block hash": {
    path: verified,
    act: async (page) => {
      await done(page);
      await page.getByLabel("Source of the block").selectOption("A block that I trust");
      await click(page, "Verify with this evidence");
      await sees(page, "A block hash is 0x and 64 hex digits.");
    },
  },
  "an endpoint that does not answer": {
    config: () => Promise.resolve({ rpc: ["http://127.0.0.1:9"] }),
    path: verified,
    act: done,
  },
  "no published key": { path: () => `#/verify/${"y".repeat(32)}`, act: done },
  "a false endpoint": { config: (world) => world.attackedBy("other-chain"), path: verified, act: done },
  "a forged file": { config: (world) => world.attackedBy("swapped-record"), path: verified, act: done },
  "an unusable server": { config: (world) => world.attackedBy("redirect"), path: verified, act: done },
  "attacks with the light client": { config: (world) => world.lightClientConfig(), path: () => "#/attacks", act: done },
  "attacks with one endpoint": { path: () => "#/attacks", act: done },
  "a bundle": {
    path: () => "#/bundle",
    act: (page) => page.getByRole("heading", { name: "Verify a bundle" }).waitFor(),
  },
  "a verified bundle": {
    path: () => "#/bundle",
    act: async (page, world) => {
      const { bundle, pinned } = await world.makeBundle();
      const buffer = Buffer.from(JSON.stringify(bundle));
      await page.locator("input[type=file]").setInputFiles({ name: "b.json", mimeType: "application/json", buffer });
      await page.getByLabel("Hash of the block").fill(pinned);
      await click(page, "Verify bundle");
      await done(page);
    },
  },
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
  "a dropped file that was changed": {
    path: () => "",
    act: async (page, { stack, root }) => {
      const text = await (await fetch(`${stack.merkleUrl}/${root}.json`)).text();
      await dropFile(page, text.replaceAll(root, "12".repeat(32)));
      await done(page);
    },
  },
  "a missing batch": { path: () => `#/batch/${"0".repeat(64)}`, act: done },
  "no page": { path: () => "#/nothing" },
};

/** Opens a page in a state. @param url the shared explorer, for states without other settings */
export async function openState(
  world: ExplorerWorld,
  url: string,
  { path, act, config }: State,
  view?: BrowserContextOptions,
): Promise<ObservedPage> {
  const explorer = config === undefined ? url : await world.serve(await config(world));
  const opened = await world.open(explorer + path(world), view);
  await act?.(opened.page, world);
  return opened;
}

/** Leads an open page of the explorer to a state without other settings. The page is not loaded again. */
export async function goToState(world: ExplorerWorld, url: string, page: Page, { path, act }: State): Promise<void> {
  // Open another page first, so that every form of the state is new.
  await page.goto(`${url}#/other`);
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  await page.goto(`${url}${path(world) || "#/"}`);
  await act?.(page, world);
}
