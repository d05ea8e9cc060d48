import { expect } from "chai";
import { eq } from "drizzle-orm";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { generateKeyPair } from "../../packages/keyroot/src/identity/newPublicKey.ts";
import { webhookDeliveries as deliveryTable } from "../../packages/service/src/webhooks/tables.ts";
import { button, click, clickInDialog, follow, rows, sees } from "../support/browser/controls.ts";
import { DashboardWorld } from "../support/browser/dashboardWorld.ts";
import { checkInAllViews, expectNothingMoved, gzippedSize } from "../support/browser/pageQuality.ts";
import { RecordedLayouts } from "../support/browser/pageLayout.ts";
import { RecordedPictures } from "../support/browser/pagePicture.ts";
import { describeIfNamed } from "../support/named.ts";

const ASSETS = join(import.meta.dirname, "../../packages/service/site/dashboard/assets");
/**
 * The maximum gzipped size of the scripts that the start page needs, in bytes. The chart's code is loaded on demand.
 */
const SCRIPT_LIMIT = 60_000;

/** Functions that lead from each state to the next state. */
type Steps = Readonly<Record<string, (page: Page, world: DashboardWorld) => Promise<unknown>>>;

/** The states that one partner's staff member goes through, in this order. */
const STEPS: Steps = {
  "an invitation": (page) => button(page, "Accept the invitation").waitFor(),
  "the first passkey": async (page) => {
    await click(page, "Accept the invitation");
    await button(page, "Add a passkey").waitFor();
  },
  "the overview": async (page) => {
    await click(page, "Add a passkey");
    await sees(page, "Nothing to do.");
  },
  "the company": async (page) => {
    await follow(page, "Company");
    await sees(page, "not used since");
  },
  "the open menu": async (page) => {
    await page.setViewportSize({ width: 390, height: 800 });
    await click(page, "Menu");
  },
  "a passkeys name": async (page) => {
    await page.setViewportSize({ width: 390, height: 800 });
    await click(page, "Menu");
    await page.getByRole("button", { name: "Rename passkey" }).click();
    await page.getByRole("dialog").getByLabel("Name").waitFor();
  },
  "a question": async (page) => {
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Remove: " }).first().click();
    await button(page.getByRole("dialog"), "Remove").waitFor();
  },
  "an invalid name": async (page) => {
    await page.keyboard.press("Escape");
    await click(page, "Invite a person");
    await click(page, "Create the link");
    await sees(page, "Enter a name.");
  },
  "a link that is shown once": async (page) => {
    await page.getByLabel("Name", { exact: true }).fill("Grace");
    await click(page, "Create the link");
    await page.locator("[data-secret]").waitFor();
  },
  "the servers": async (page) => {
    await click(page, "Done");
    await follow(page, "Servers");
    await button(page, "Create a server token").waitFor();
    await sees(page, /no server token yet|active/);
  },
  "a token that is shown once": async (page) => {
    await click(page, "Create a server token");
    await click(page, "Create");
    await page.locator("[data-secret]").waitFor();
  },
  "no user": async (page) => {
    await click(page, "Done");
    await follow(page, "Users");
    await sees(page, "There is no user yet");
  },
  "a new user": async (page) => {
    await click(page, "Create a user");
    await page.getByRole("dialog").getByLabel("User id", { exact: true }).fill("abc");
    await click(page, "Create");
    await sees(page, "but this has 3");
  },
  "a user": async (page, world) => {
    const [{ userID } = { userID: "" }] = await world.addUsers();
    await page.goto(`${world.url}#/users/${userID}`);
    await page.locator(".badge", { hasText: /^published$/ }).waitFor();
    await sees(page, "A phone");
  },
  "a conflicting key": async (page, world) => {
    const server = await world.service.createServerToken(world.bizID);
    const user = await world.service.createUser({ bizID: world.bizID, ...server });
    await world.offerConflictingKey(user);
    await page.goto(`${world.url}#/users/${user.userID}`);
    await sees(page, "It is not published until you decide");
    await sees(page, "A phone");
  },
  "another key than the waiting one": async (page) => {
    const other = await page.locator(".offered li:nth-child(2) code").innerText();
    await page.getByLabel("Key id that the user reads to you").fill(other);
    await sees(page, "This is the other key.");
  },
  "an approval": async (page) => {
    const own = await page.locator(".offered li:first-child code").innerText();
    await page.getByLabel("Key id that the user reads to you").fill(own);
    await sees(page, "This is the waiting key.");
  },
  "a discarded key": async (page) => {
    await click(page, "Discard");
    await sees(page, "The key is deleted and not published.");
  },
  users: async (page) => {
    await page.keyboard.press("Escape");
    await follow(page, "All users");
    await page.getByRole("heading", { name: "All users, newest first" }).waitFor();
    await rows(page).first().waitFor();
  },
  "a full page of users": async (page, world) => {
    const server = await world.service.createServerToken(world.bizID);
    for (let i = 0; i < 25; i++) await world.service.createUser({ bizID: world.bizID, ...server });
    await page.reload();
    await rows(page).nth(24).waitFor();
  },
  "the second page of users": async (page) => {
    await click(page, "Next");
    await sees(page, "Page 2");
    await rows(page).nth(7).waitFor();
  },
  "no user in a filter": async (page, world) => {
    await page.goto(`${world.url}#/users?state=waiting`);
    await sees(page, "No user matches the filter.");
  },
  "an erasure": async (page, world) => {
    const { userID } = await world.service.createUser({
      bizID: world.bizID,
      ...(await world.service.createServerToken(world.bizID)),
    });
    await page.goto(`${world.url}#/users/${userID}`);
    await click(page, "Erase");
    await page.getByLabel("Type the user id to confirm").fill("y".repeat(32));
    await clickInDialog(page, "Erase");
    await sees(page, "This is the id of another user.");
  },
  publishing: async (page) => {
    await page.keyboard.press("Escape");
    await follow(page, "Publishing");
    await page.locator(".chart-drawing canvas").waitFor();
    await page.getByText("Show as a table").click();
    await sees(page, "Batches");
  },
  "the overview with something to do": async (page) => {
    await follow(page, "Overview");
    await sees(page, "for your decision");
  },
  "no webhook": async (page, world) => {
    // The endpoint then receives only later events, however fast the machine is.
    await dispatchEvents(world);
    await follow(page, "Webhooks");
    await sees(page, "There is no endpoint yet");
  },
  "an invalid webhook": async (page) => {
    await click(page, "Add an endpoint");
    await page.getByLabel("URL").fill("ftp://example.com");
    await page.getByText("Only some events").click();
    await page.getByLabel("user.created").check();
    await click(page, "Add");
    await sees(page, "This URL cannot be used");
  },
  "the secret of a webhook": async (page) => {
    await page.getByLabel("URL").fill("https://example.com/keyroot");
    await click(page, "Add");
    await page.locator("[data-secret]").waitFor();
  },
  webhooks: async (page) => {
    await click(page, "Done");
    await page.getByRole("link", { name: "https://example.com/keyroot" }).waitFor();
  },
  "a webhook": async (page, world) => {
    await addDeliveries(world);
    await follow(page, "https://example.com/keyroot");
    await rows(page, "failed").first().waitFor();
    await click(page, "Send a test");
    await sees(page, "test failed");
  },
  "the overview with a failing webhook": async (page) => {
    await follow(page, "Overview");
    await sees(page, "1 webhook fails.");
  },
  "the audit log": async (page) => {
    await follow(page, "Audit log");
    await page.getByRole("textbox", { name: "User id" }).fill("abc");
    await click(page, "Show");
    await sees(page, "but this has 3");
    await rows(page, "user created").first().locator("summary").click();
  },
  "a place to go to": async (page) => {
    await page.keyboard.press("Control+k");
    await page.getByLabel("Name or id").fill("5d5d5d");
    await page.locator(".places").getByText("batch").waitFor();
  },
  "no page": async (page, { url }) => {
    await page.keyboard.press("Escape");
    await page.goto(`${url}#/nothing`);
    await sees(page, "There is no such page");
  },
  "a suspended company": async (page, { service, bizID, url }) => {
    await service.admin("/v1/admin/partners/suspend", { biz_id: bizID });
    await page.goto(`${url}#/overview`);
    await page.reload();
    await sees(page, "has suspended your company");
    await sees(page, "for your decision");
    await service.admin("/v1/admin/partners/resume", { biz_id: bizID });
  },
  "a failed call": async (page) => {
    await page.route("**/v1/**", (route) => route.abort());
    await page.reload();
    await button(page, "Try again").waitFor();
    await page.unroute("**/v1/**");
  },
  "signing in": async (page) => {
    await click(page, "Try again");
    await click(page, "Sign out");
    await button(page, "Sign in with a passkey").waitFor();
  },
  "an expired session": async (page) => {
    await click(page, "Sign in with a passkey");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.context().clearCookies();
    // A request of the overview may already have ended the session, and then there is no link to follow.
    await page.evaluate(() => (location.hash = "#/users"));
    await sees(page, "Your session has ended.");
  },
  "a used invitation": async (page, { url }) => {
    await page.goto(`${url}#/invitation/${"x".repeat(43)}`);
    await click(page, "Accept the invitation");
    await sees(page, "INVITATION_REFUSED");
  },
};

/** The states that one of the operator's staff members goes through. */
const OPERATOR_STEPS: Steps = {
  "the operators first passkey": async (page) => {
    await click(page, "Accept the invitation");
    await button(page, "Add a passkey").waitFor();
  },
  "the operators overview": async (page) => {
    await click(page, "Add a passkey");
    await sees(page, "FILE_UNREADABLE");
  },
  partners: async (page, world) => {
    await world.service.admin("/v1/admin/partners/suspend", { biz_id: await world.createPartner("Beta Analytics") });
    await follow(page, "Partners");
    await sees(page, "Beta Analytics");
  },
  "a partner": async (page, world) => {
    await world.service.createServerToken(world.bizID);
    await follow(page, "Acme");
    await sees(page, "active");
  },
  "a suspension": async (page) => {
    await click(page, "Suspend");
    await sees(page, "are rejected immediately");
  },
  "an invalid limit": async (page) => {
    await page.keyboard.press("Escape");
    await click(page, "Limit users");
    await page.getByLabel("User limit").fill("many");
    await click(page, "Save");
    await sees(page, "The limit must be");
  },
  "publishing differences": async (page, world) => {
    await page.keyboard.press("Escape");
    await page.goto(`${world.url}#/overview`);
    await sees(page, "FILE_UNREADABLE");
    world.differences = [
      { region: "us-west-2", root: "5d".repeat(32), code: "FILE_NOT_FOUND" },
      { region: "eu-west-1", root: "c4".repeat(32), code: "ROOT_MISMATCH" },
    ];
    await click(page, "Check again");
    await sees(page, "keyroot reconcile");
  },
  "nothing to publish": async (page, world) => {
    world.differences = [];
    world.publishable = 0;
    await click(page, "Check again");
    await sees(page, "There is nothing to publish");
  },
  "a publication with its cost": async (page, world) => {
    world.publishable = 12;
    await click(page, "Check again");
    await sees(page, "12 keys would be published now");
    await click(page, "Publish now");
    await sees(page, "is enough for about");
  },
  "published now": async (page) => {
    await clickInDialog(page, "Publish");
    await sees(page, "Published: 1 batch.");
  },
  "the operators audit log": async (page) => {
    await follow(page, "Audit log");
    await rows(page, "partner created").first().waitFor();
  },
  "the operators people": async (page) => {
    await follow(page, "People");
    // The person confirmed the publication with the passkey.
    await sees(page, "last used");
  },
};

async function dispatchEvents({ service: { context } }: DashboardWorld): Promise<void> {
  while (await context.webhookDeliveries.dispatch(context.databases.home, context.now()));
}

/** Adds deliveries in each state to the first partner's endpoint without sending any. */
async function addDeliveries(world: DashboardWorld): Promise<void> {
  const { service, bizID } = world;
  const { webhookDeliveries, webhookEndpoints, databases, now } = service.context;
  const server = await service.createServerToken(bizID);
  for (let i = 0; i < 4; i++) await service.createUser({ bizID, ...server });
  await dispatchEvents(world);
  const [endpoint] = await webhookEndpoints.list(bizID);
  // The first page contains the newest deliveries.
  const [failed, delivered] = (await webhookDeliveries.list(endpoint?.endpointID ?? "", { limit: 2 })) ?? [];
  const set = (row: typeof failed, values: Partial<typeof deliveryTable.$inferInsert>) =>
    databases.home
      .update(deliveryTable)
      .set({ ...values, lastAttempt: now() })
      .where(eq(deliveryTable.eventID, row?.eventID ?? ""));
  await set(failed, { state: "failed", attempts: 10, status: 500, error: "The endpoint returned status 500." });
  await set(delivered, { state: "delivered", attempts: 1, status: 204 });
}

describeIfNamed(import.meta.filename)("dashboard pages", () => {
  // The worlds are separate, so that the pages look the same in every run, even if only one test runs.
  const [partnersWorld, operatorsWorld] = [new DashboardWorld(), new DashboardWorld()];
  const layouts = new RecordedLayouts("dashboard");
  const pictures = new RecordedPictures("dashboard");

  before(() => partnersWorld.start());
  after(() => Promise.all([partnersWorld.stop(), operatorsWorld.stop()]));
  after(() => {
    layouts.save();
  });

  for (const [person, world, steps, options] of [
    ["a partner's administrator", partnersWorld, STEPS, {}],
    ["the operator's people", operatorsWorld, OPERATOR_STEPS, { bizID: null }],
  ] as const) {
    it(`meet the layout and accessibility rules in every state for ${person}`, async () => {
      await world.start();
      await using opened = await world.open(await world.invite("Ada", options));
      const { page } = opened;
      for (const [state, act] of Object.entries(steps)) {
        await act(page, world);
        // Each person signs in first, on a page that explains passkeys.
        const isSignedIn = await button(page, "Sign out").isVisible();
        await checkInAllViews(page, `dashboard: ${state}`, { layouts, pictures }, isSignedIn ? ["passkey"] : []);
      }
    });
  }

  for (const width of [390, 1280]) {
    it(`keep their layout while they load at ${width} pixels`, async () => {
      const { bizID, users } = await partnersWorld.createPartnerWithUsers(`Slow company ${width}`, 5);
      for (const user of users) await partnersWorld.service.registerKey(user, generateKeyPair());
      await using opened = await partnersWorld.signIn("Mona", { bizID }, { viewport: { width, height: 800 } });
      const { page } = opened;
      await page.route("**/v1/**", async (route) => {
        await sleep(100);
        await route.continue();
      });
      for (const [path, text] of [
        ["overview", "Nothing to do."],
        ["company", "1 passkey"],
        ["servers", "Without a name"],
        ["users", "Oregon"],
        ["publishing", "There is none yet."],
        ["webhooks", "There is no endpoint yet"],
        ["audit", "session started"],
      ] as const) {
        await page.goto("about:blank");
        await page.goto(`${partnersWorld.url}#/${path}`);
        await page.locator("main").getByText(text).locator("visible=true").first().waitFor();
        // The passkeys are loaded last.
        await page.waitForLoadState("networkidle");
        await expectNothingMoved(page, path);
      }
    });
  }

  it(`load at most ${SCRIPT_LIMIT / 1000} kB of scripts`, async () => {
    expect(await gzippedSize(ASSETS, ["index-"]))
      .to.be.above(5000)
      .and.at.most(SCRIPT_LIMIT);
  });
});
