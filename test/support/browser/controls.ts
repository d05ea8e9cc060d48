import { expect } from "chai";
import type { Locator, Page } from "playwright-core";
import type { DashboardWorld } from "./dashboardWorld.ts";
import { eventually } from "./eventually.ts";
import { expectNowhere } from "./expectNowhere.ts";
import type { ObservedPage } from "./observedPage.ts";

/** The button with exactly this name. */
export const button = (scope: Page | Locator, name: string): Locator =>
  scope.getByRole("button", { name, exact: true });

/** Clicks the button with exactly this name. */
export const click = (scope: Page | Locator, name: string): Promise<void> => button(scope, name).click();

/** Clicks a button of the open dialog. */
export const clickInDialog = (page: Page, name: string): Promise<void> => click(page.getByRole("dialog"), name);

/** Follows the link with exactly this name. */
export const follow = (page: Page, name: string): Promise<void> =>
  page.getByRole("link", { name, exact: true }).click();

/** Waits until the page shows a text. */
export const sees = (scope: Page | Locator, text: string | RegExp): Promise<void> =>
  scope.getByText(text).first().waitFor();

/** The rows of lists that contain a text. */
export const rows = (page: Page, text: string | RegExp = ""): Locator => page.locator(".row", { hasText: text });

/**
 * Reads a secret that is shown once, with the name of its copy button, and closes the dialog with Done. Then checks
 * that neither the browser nor the service keeps the secret.
 */
export async function takeSecret(
  world: DashboardWorld,
  { page, requests }: ObservedPage,
  name: string,
): Promise<string> {
  const shown = await page.locator("[data-secret] code").innerText();
  await page.keyboard.press("Escape");
  await click(page, `Copy ${name}`);
  await eventually(async () => {
    expect(await page.evaluate(() => navigator.clipboard.readText())).to.equal(shown);
  });
  await click(page, "Done");
  await page.locator("[data-secret]").waitFor({ state: "detached" });
  // A secret in a link is the last part of its path. A secret in base64 may also contain slashes.
  const secret = URL.canParse(shown) ? (shown.split("/").at(-1) ?? "") : shown;
  await expectNowhere(world, page, secret, requests);
  return shown;
}
