import { expect } from "chai";
import type { Page } from "playwright-core";
import { dump } from "../service/dump.ts";
import type { DashboardWorld } from "./dashboardWorld.ts";

/** Checks that neither the browser nor the service keeps a secret that is no longer shown. */
export async function expectNowhere(
  world: DashboardWorld,
  page: Page,
  secret: string,
  requests: readonly string[],
): Promise<void> {
  const kept = await page.evaluate(async () => {
    const cached = await Promise.all(
      (await caches.keys()).map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => url)),
    );
    const databases = (await indexedDB.databases()).map(({ name }) => name);
    const state = history.state as unknown;
    return JSON.stringify([
      ...[document.documentElement.outerHTML, location.href, state, cached, databases],
      ...[Object.entries(localStorage), Object.entries(sessionStorage), document.cookie],
      performance.getEntries().map(({ name }) => name),
    ]);
  });
  expect(kept).to.not.contain(secret);
  expect(JSON.stringify(await page.context().storageState())).to.not.contain(secret);
  const session = await page.context().newCDPSession(page);
  const { entries } = await session.send("Page.getNavigationHistory");
  // `userTypedURL` is the text that was typed into the address bar. Pages cannot change it.
  expect(entries.map(({ url }) => url).join("\n")).to.not.contain(secret);
  expect(requests.join("\n")).to.not.contain(secret);
  expect(world.log.join("")).to.not.contain(secret);
  expect(JSON.stringify(await dump(world.service.databases.home))).to.not.contain(secret);
}
