import axe, { type AxeResults } from "axe-core";
import { expect } from "chai";
import { eq } from "drizzle-orm";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { gzipSync } from "node:zlib";
import { generateKeyPair } from "../../packages/keyroot/src/identity/newPublicKey.ts";
import { webhookDeliveries as deliveryTable } from "../../packages/operator/src/service/store/webhookTables.ts";
import { DashboardWorld } from "../support/browser/dashboardWorld.ts";
import { unexplainedTerms } from "../support/browser/unexplainedTerms.ts";
import { describeIfNamed } from "../support/named.ts";

const ASSETS = join(import.meta.dirname, "../../packages/operator/site/dashboard/assets");
/** The most that the scripts of the dashboard may have, in bytes after gzip. */
const SCRIPT_LIMIT = 110_000;

/** The most that a page may move while it loads, as Cumulative Layout Shift. 0.1 counts as good. */
const MOST_SHIFT = 0.01;
interface Shift {
  value: number;
  sources: { node: (Node & { textContent: string }) | null }[];
}

const VIEWS = [360, 1440].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ width, colorScheme })),
);

/** What leads from each state to the next one, as one person goes through them. */
const STEPS: readonly [state: string, act: (page: Page, world: DashboardWorld) => Promise<unknown>][] = [
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
    async (page) => {
      await page
        .getByRole("button", { name: /^Remove: / })
        .first()
        .click();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).waitFor();
    },
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
    async (page) => {
      await page.getByLabel("Name").fill("Grace");
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
    "no user",
    async (page) => {
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByRole("link", { name: "Users", exact: true }).click();
      await page.getByText("There is no user yet").waitFor();
    },
  ],
  [
    "a new user",
    async (page) => {
      await page.getByRole("button", { name: "Create a user" }).click();
      await page.getByRole("dialog").getByLabel("User id", { exact: true }).fill("abc");
      await page.getByRole("button", { name: "Create", exact: true }).click();
      await page.getByText("but this has 3").waitFor();
    },
  ],
  [
    "a user",
    async (page, world) => {
      const [{ userID } = { userID: "" }] = await world.addUsers();
      await page.goto(`${world.url}#/users/${userID}`);
      await page.locator(".badge", { hasText: /^published$/ }).waitFor();
      await page.getByText("A phone").waitFor();
    },
  ],
  [
    "a disputed key",
    async (page, world) => {
      const server = await world.service.createServerToken(world.bizID);
      const user = await world.service.createUser({ bizID: world.bizID, ...server });
      await world.disputeKey(user);
      await page.goto(`${world.url}#/users/${user.userID}`);
      await page.getByText("It waits for your decision").waitFor();
      await page.getByText("A phone").waitFor();
    },
  ],
  [
    "an approval",
    async (page) => {
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByText("Approve it only if").waitFor();
    },
  ],
  [
    "users",
    async (page) => {
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: "All users" }).click();
      await page.getByRole("heading", { name: "All users, by id" }).waitFor();
      await page.locator(".row").first().waitFor();
    },
  ],
  [
    "publishing",
    async (page) => {
      await page.getByRole("link", { name: "Publishing", exact: true }).click();
      await page.locator(".chart-drawing canvas").waitFor();
      await page.getByText("The same as a table").click();
      await page.getByText("Open in the explorer").first().waitFor();
    },
  ],
  [
    "no webhook",
    async (page) => {
      await page.getByRole("link", { name: "Webhooks" }).click();
      await page.getByText("There is no endpoint yet").waitFor();
    },
  ],
  [
    "an invalid webhook",
    async (page) => {
      await page.getByRole("button", { name: "Add an endpoint" }).click();
      await page.getByLabel("URL").fill("ftp://example.com");
      await page.getByText("Only some events").click();
      await page.getByLabel("user.created").check();
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByText("This URL cannot be used").waitFor();
    },
  ],
  [
    "the secret of a webhook",
    async (page) => {
      await page.getByLabel("URL").fill("https://example.com/keyroot");
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.locator("[data-secret]").waitFor();
    },
  ],
  [
    "webhooks",
    async (page) => {
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByRole("link", { name: "https://example.com/keyroot" }).waitFor();
    },
  ],
  [
    "a webhook",
    async (page, world) => {
      await addDeliveries(world);
      await page.getByRole("link", { name: "https://example.com/keyroot" }).click();
      await page.locator(".row", { hasText: "failed" }).first().waitFor();
      await page.getByRole("button", { name: "Send a test" }).click();
      await page.getByText("test failed").waitFor();
    },
  ],
  [
    "the audit log",
    async (page) => {
      await page.getByRole("link", { name: "Audit log" }).click();
      await page.getByLabel("User id").fill("abc");
      await page.getByRole("button", { name: "Show", exact: true }).click();
      await page.getByText("but this has 3").waitFor();
      await page.locator(".row", { hasText: "user created" }).first().getByText("Details").click();
    },
  ],
  [
    "a failed call",
    async (page) => {
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

/** Deliveries in each state to the first partner's endpoint, without sending any. */
async function addDeliveries({ service, bizID }: DashboardWorld): Promise<void> {
  const { webhookDeliveries, webhookEndpoints, databases, now } = service.context;
  const server = await service.createServerToken(bizID);
  for (let i = 0; i < 3; i++) await service.createUser({ bizID, ...server });
  while (await webhookDeliveries.dispatch(databases.home, now()));
  const [endpoint] = await webhookEndpoints.list(bizID);
  const rows = await databases.home
    .select()
    .from(deliveryTable)
    .where(eq(deliveryTable.endpointID, endpoint?.endpointID ?? ""));
  const [failed, delivered] = rows;
  const set = (row: typeof failed, values: Partial<typeof deliveryTable.$inferInsert>) =>
    databases.home
      .update(deliveryTable)
      .set({ ...values, lastAttempt: now() })
      .where(eq(deliveryTable.eventID, row?.eventID ?? ""));
  await set(failed, { state: "failed", attempts: 10, status: 500, error: "The endpoint returned status 500." });
  await set(delivered, { state: "delivered", attempts: 1, status: 204 });
}

/** The same for a person of the operator. */
const OPERATOR_STEPS: typeof STEPS = [
  [
    "the operators first passkey",
    async (page) => {
      await page.getByRole("button", { name: "Accept the invitation" }).click();
      await page.getByRole("button", { name: "Add a passkey" }).waitFor();
    },
  ],
  [
    "partners",
    async (page, world) => {
      await world.service.admin("/v1/admin/partners/suspend", { biz_id: await world.createPartner("Beta Analytics") });
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByText("Beta Analytics").waitFor();
    },
  ],
  [
    "a partner",
    async (page) => {
      await page.getByRole("link", { name: "Acme" }).click();
      await page.getByText("active").first().waitFor();
    },
  ],
  [
    "a suspension",
    async (page) => {
      await page.getByRole("button", { name: "Suspend" }).click();
      await page.getByText("are refused at once").waitFor();
    },
  ],
  [
    "an invalid limit",
    async (page) => {
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Limit users" }).click();
      await page.getByLabel("The most users").fill("many");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("The limit must be").waitFor();
    },
  ],
  [
    "the system",
    async (page, world) => {
      await page.keyboard.press("Escape");
      await page.goto(`${world.url}#/system`);
      await page.getByText("FILE_UNREADABLE").waitFor();
    },
  ],
  [
    "published now",
    async (page) => {
      await page.getByRole("button", { name: "Publish now" }).click();
      await page.getByRole("button", { name: "Publish", exact: true }).click();
      await page.getByText("Published: 1 batch.").waitFor();
    },
  ],
  [
    "the operators audit log",
    async (page) => {
      await page.getByRole("link", { name: "Audit log" }).click();
      await page.locator(".row", { hasText: "partner created" }).first().waitFor();
    },
  ],
  [
    "the operators people",
    async (page) => {
      await page.getByRole("link", { name: "People" }).click();
      await page.getByText("not used since").waitFor();
    },
  ],
];

describeIfNamed(import.meta.filename)("the dashboard's pages", function () {
  this.timeout(240_000);
  const world = new DashboardWorld();

  before(() => world.start());
  after(() => world.stop());

  const visit = async (link: string, steps: typeof STEPS) => {
    await using opened = await world.open(link);
    const { page } = opened;
    const unexplained: Record<string, string[]> = {};
    for (const [state, act] of steps) {
      await act(page, world);
      // Everyone signs in first, on a page that explains passkeys.
      const isSignedIn = await page.getByRole("button", { name: "Sign out" }).isVisible();
      const terms = await unexplainedTerms(page, isSignedIn ? ["passkey"] : []);
      if (terms.length > 0) unexplained[state] = terms;
      await page.evaluate(axe.source);
      for (const { width, colorScheme } of VIEWS) {
        await page.setViewportSize({ width, height: 800 });
        // Without transitions between the colors.
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        // Two frames: the first one draws what the new width changes.
        await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
        const { violations } = await page.evaluate<AxeResults>('axe.run({ resultTypes: ["violations"] })');
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
        const where = `${state}, ${width} pixels, ${colorScheme}`;
        expect(found, where).to.deep.equal([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth), where).to.be.at.most(width);
        // `npm run screenshots` keeps a picture of each state.
        const { SCREENSHOTS: folder } = process.env;
        const file = `dashboard-${state.replaceAll(" ", "-")}-${width}-${colorScheme}.png`;
        if (folder !== undefined) await page.screenshot({ path: join(folder, file), fullPage: true });
      }
    }
    expect(unexplained).to.deep.equal({});
  };

  it("have no violation of axe in any state, nothing wider than the window, and no term without its explanation, at 360 and 1440 pixels, light and dark", async () => {
    await visit(await world.invite("Ada"), STEPS);
  });

  it("have none for the operator's people either", async () => {
    await visit(await world.invite("Olga", { bizID: null }), OPERATOR_STEPS);
  });

  it("move nothing while they load, at 360 and 1440 pixels", async () => {
    const bizID = await world.createPartner("Slow company");
    const server = await world.service.createServerToken(bizID);
    for (let i = 0; i < 5; i++)
      await world.service.registerKey(await world.service.createUser({ bizID, ...server }), generateKeyPair());
    for (const width of [360, 1440]) {
      await using opened = await world.signIn(`Mona ${width}`, { bizID }, { viewport: { width, height: 800 } });
      const { page } = opened;
      // What loads at once moves nothing that a person sees.
      await page.route("**/api/**", async (route) => {
        await sleep(100);
        await route.continue();
      });
      await page.addInitScript(() => {
        const moved: unknown[] = [];
        Object.assign(globalThis, { moved });
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as (PerformanceEntry & Shift)[])
            moved.push([entry.value, ...entry.sources.map(({ node }) => node?.textContent.slice(0, 50))]);
        }).observe({ type: "layout-shift", buffered: true });
      });
      for (const [path, text] of [
        ["company", "1 passkey"],
        ["servers", "Without a name"],
        ["users", "Oregon"],
        ["publishing", "There is none yet."],
        ["webhooks", "There is no endpoint yet"],
        ["audit", "session started"],
      ] as const) {
        await page.goto("about:blank");
        await page.goto(`${world.url}#/${path}`);
        await page.locator("main").getByText(text).locator("visible=true").first().waitFor();
        // The passkeys come last, and shifts are reported with the next frame.
        await page.waitForLoadState("networkidle");
        const moved = await page.evaluate<[number, ...string[]][]>("moved");
        const sum = moved.reduce((sum, [value]) => sum + value, 0);
        expect(sum, `${path}, ${width} pixels: ${JSON.stringify(moved)}`).to.be.at.most(MOST_SHIFT);
      }
    }
  });

  it(`load at most ${SCRIPT_LIMIT / 1000} kB of scripts`, async () => {
    const scripts = (await readdir(ASSETS)).filter((name) => name.endsWith(".js"));
    const sizes = await Promise.all(scripts.map(async (name) => gzipSync(await readFile(join(ASSETS, name))).length));
    expect(sizes.reduce((sum, size) => sum + size, 0))
      .to.be.above(5000)
      .and.at.most(SCRIPT_LIMIT);
  });
});
