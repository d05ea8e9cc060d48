import { expect } from "chai";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { done } from "../../fixtures/browser/explorerStates.ts";
import type { ExplorerPage } from "../../fixtures/browser/explorerWorld.ts";
import { eventually } from "../support/browser/eventually.ts";
import { type DashboardPage, sharedWorld } from "../support/browser/dashboardWorld.ts";
import { sharedExplorer } from "../support/browser/explorerWorld.ts";
import { describeIfNamed } from "../support/named.ts";

const SOURCES = join(import.meta.dirname, "../../packages/web/src");
/** A component that shows a field and its error, up to the field's label. */
const FIELD = /<(?:TextField|TextDialog|Field|Choice|Day)\b(?:(?!label=)[\s\S])*?\slabel=(?:"([^"]+)"|\{label\})/g;
/** The same for the dialog of a list of tokens. */
const DIALOG = /dialog: \{[^}]*?label: "([^"]+)"/g;
const CONTROL = /<(?:input|select|textarea)\s[\s\S]*?(?:\/>|>\n)/g;
const TOO_LONG = "x".repeat(1000);

/** An invalid value of a field, on a page where the field is shown. */
interface Case {
  /** Leads to the page with the field. */
  open: (page: Page) => Promise<unknown>;
  value: string;
  /** What the message says. */
  message: RegExp;
  /** The name of the button that sends the form. None: the message appears while people type. */
  button?: string;
}

/** Why a field has no invalid value. */
const LIST = "people choose from a list";

describeIfNamed(import.meta.filename)("an invalid value", function () {
  this.timeout(60_000);
  const explorer = sharedExplorer();
  const world = sharedWorld;
  let explorerPage: ExplorerPage;
  let staffPage: DashboardPage;
  let operatorPage: DashboardPage;

  before(async function () {
    this.timeout(120_000);
    await world.start();
    explorerPage = await explorer.world.open(await explorer.world.serve({ visitorEndpoints: true }));
    staffPage = await world.signIn("Fay");
    operatorPage = await world.signIn("Fritz", { bizID: null });
  });
  after(async () => {
    for (const opened of [explorerPage, staffPage, operatorPage]) await opened[Symbol.asyncDispose]();
  });

  const inPage = (route: string) => async (page: Page) => {
    await page.goto(`${page.url().replace(/#.*/, "")}#/${route}`);
    // Other fields of an earlier case are gone.
    await page.reload();
  };
  const click = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
  const verified = async (page: Page) => {
    await inPage(`verify/${explorer.world.victim.userID}`)(page);
    await done(page);
  };

  const EXPLORER: Readonly<Record<string, Case | string>> = {
    "shared/searchForm.tsx: User id": {
      ...{ open: inPage(""), value: "hello", message: /has 32 characters, but this has 5/, button: "Verify" },
    },
    "explorer/evidenceForm.tsx: How many must agree": LIST,
    "explorer/evidenceForm.tsx: Endpoint": LIST,
    "explorer/evidenceForm.tsx: Block hash": {
      open: async (page) => {
        await verified(page);
        await page.getByLabel("A block that I trust").check();
      },
      ...{ value: "0x12", message: /0x and 64 hex digits/, button: "Verify with this evidence" },
    },
    "explorer/evidenceForm.tsx: Add an endpoint of your own": {
      ...{ open: verified, value: "ftp://example.com", message: /Enter the URL/, button: "Add endpoint" },
    },
    "explorer/verificationView.tsx: Compare with a key that you have": {
      ...{ open: verified, value: "not a key", message: /This has 7\./ },
    },
    "explorer/bundlePage.tsx: Bundle": {
      ...{ open: inPage("bundle"), value: "", message: /Choose a bundle first/, button: "Verify bundle" },
    },
    "explorer/bundlePage.tsx: Hash of the block": {
      open: async (page) => {
        await inPage("bundle")(page);
        const file = { name: "b.json", mimeType: "application/json", buffer: Buffer.from("{}") };
        await page.getByLabel("Bundle", { exact: true }).setInputFiles(file);
      },
      ...{ value: "12", message: /0x and 64 hex digits/, button: "Verify bundle" },
    },
    "explorer/batch/batchPage.tsx: Find a record": {
      open: (page) => inPage(`batch/${explorer.world.root}`)(page),
      ...{ value: "nothing", message: /No record of this file/ },
    },
    "explorer/safetyCodeCard.tsx: Your own user id": { open: verified, value: "hello", message: /but this has 5/ },
    "explorer/safetyCodeCard.tsx: Your own public key": { open: verified, value: "short", message: /140 characters/ },
    "explorer/safetyCodeCard.tsx: What the other app shows (optional)": {
      open: async (page) => {
        await verified(page);
        const [own] = explorer.world.records;
        await page.getByLabel("Your own user id").fill(own?.userID ?? "");
        await page.getByLabel("Your own public key").fill(own?.pubKey ?? "");
      },
      ...{ value: "123", message: /no safety code/ },
    },
  };

  const STAFF: typeof EXPLORER = {
    "dashboard/serversPage.tsx: Name (optional)": {
      open: async (page) => {
        await inPage("servers")(page);
        await click(page, "Create a server token");
      },
      ...{ value: TOO_LONG, message: /^The name /, button: "Create" },
    },
    "dashboard/userPage.tsx: Context": {
      open: async (page) => {
        const server = await world.service.createServerToken(world.bizID);
        const { userID } = await world.service.createUser({ bizID: world.bizID, ...server });
        await inPage(`users/${userID}`)(page);
        await click(page, "Create a refresh token");
      },
      ...{ value: TOO_LONG, message: /^The context /, button: "Create" },
    },
    "dashboard/createUserDialog.tsx: User id": {
      open: async (page) => {
        await inPage("users")(page);
        await click(page, "Create a user");
      },
      ...{ value: "hello", message: /but this has 5/, button: "Create" },
    },
    "dashboard/inviteDialog.tsx: Name": {
      open: async (page) => {
        await inPage("company")(page);
        await click(page, "Invite a person");
      },
      ...{ value: TOO_LONG, message: /name|characters/i, button: "Create the link" },
    },
    "dashboard/webhooks/endpointDialog.tsx: URL": {
      open: async (page) => {
        await inPage("webhooks")(page);
        await click(page, "Add an endpoint");
      },
      ...{ value: "ftp://example.com", message: /This URL cannot be used/, button: "Add" },
    },
    "dashboard/webhooks/deliveriesCard.tsx: Show": LIST,
    "dashboard/auditPage.tsx: What": LIST,
    "dashboard/auditPage.tsx: Who": LIST,
    "dashboard/auditPage.tsx: From": "browsers let people enter only days, and the order is the other field's",
    "dashboard/auditPage.tsx: To": {
      open: async (page) => {
        await inPage("audit")(page);
        await page.getByLabel("From").fill("2026-03-02");
      },
      ...{ value: "2026-03-01", message: /before the first one/, button: "Show" },
    },
    "dashboard/auditPage.tsx: User id (optional)": {
      ...{ open: inPage("audit"), value: "hello", message: /but this has 5/, button: "Show" },
    },
  };

  const OPERATOR: typeof EXPLORER = {
    "dashboard/operator/partnersPage.tsx: Search": "every text can be searched",
    "dashboard/operator/partnersPage.tsx: Name": {
      open: async (page) => {
        await inPage("partners")(page);
        await click(page, "Create a partner");
      },
      ...{ value: TOO_LONG, message: /^The name /, button: "Create" },
    },
    "dashboard/operator/partnerPage.tsx: The most users (empty for no limit)": {
      open: async (page) => {
        await inPage(`partners/${world.bizID}`)(page);
        await click(page, "Limit users");
      },
      ...{ value: "many", message: /^The limit /, button: "Save" },
    },
  };

  it("is tried in every field of the sources, and every control is in a field, or a choice", () => {
    const labels: string[] = [];
    for (const path of globSync("**/*.tsx", { cwd: SOURCES })) {
      const source = readFileSync(join(SOURCES, path), "utf8");
      for (const [, label] of [...source.matchAll(FIELD), ...source.matchAll(DIALOG)])
        if (label !== undefined) labels.push(`${path}: ${label}`);
      for (const [control] of source.matchAll(CONTROL))
        expect(control, path).to.match(/\{\.\.\.(?:attributes|all)\}|type="(?:radio|checkbox)"/);
      if (path !== "shared/form.tsx") expect(source, path).to.not.contain("<form");
    }
    expect(labels).to.have.members(Object.keys({ ...EXPLORER, ...STAFF, ...OPERATOR }));
  });

  const check = async (page: Page, name: string, { open, value, message, button }: Case) => {
    await open(page);
    const scope = (await page.locator("dialog").count()) > 0 ? page.locator("dialog") : page.locator("main");
    const field = scope.getByLabel(name.replace(/^.*?: /, ""), { exact: true });
    if (value !== "") await field.fill(value);
    if (button !== undefined) await scope.getByRole("button", { name: button, exact: true }).click();
    await eventually(async () => {
      expect(await messageOf(field)).to.match(message);
    });
    await eventually(async () => {
      expect(await field.evaluate((element) => element === document.activeElement)).to.equal(true);
    });
    expect(await field.inputValue()).to.equal(value);
  };

  for (const [cases, pageOf] of [
    [EXPLORER, () => explorerPage.page],
    [STAFF, () => staffPage.page],
    [OPERATOR, () => operatorPage.page],
  ] as const) {
    for (const [name, field] of Object.entries(cases)) {
      if (typeof field === "string") continue;
      it(`in ${name} is kept, with a message beside the field, which has the focus`, async () => {
        await check(pageOf(), name, field);
      });
    }
  }
});

/** The message beside a field that is marked as invalid, and describes it for screen readers. */
function messageOf(field: Locator): Promise<string> {
  return field.evaluate((element) => {
    const ids = element.getAttribute("aria-describedby")?.split(" ") ?? [];
    const messages = ids.map((id) => element.closest(".field")?.querySelector(`[id="${id}"][role=alert]`)?.textContent);
    return element.getAttribute("aria-invalid") === "true" ? messages.join("") : "";
  });
}
