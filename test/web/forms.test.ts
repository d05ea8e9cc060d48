import { expect } from "chai";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { done } from "../support/browser/explorerStates.ts";
import { click } from "../support/browser/controls.ts";
import { eventually } from "../support/browser/eventually.ts";
import { sharedDashboard } from "../support/browser/dashboardWorld.ts";
import type { ObservedPage } from "../support/browser/observedPage.ts";
import { sharedExplorer } from "../support/browser/sharedExplorer.ts";
import { describeIfNamed } from "../support/named.ts";
import { readUserID } from "../../packages/web/src/shared/readUserID.ts";

const SOURCES = join(import.meta.dirname, "../../packages/web/src");
/** A pattern for a component that shows a field and its error, up to the field's label. */
const FIELD =
  /<(?:TextField|TextDialog|Field|Select|SearchForm|Day)\b(?:(?!label=)[\s\S])*?\slabel=(?:"([^"]+)"|\{label\})/g;
/** A pattern for the dialog of a list of tokens, up to the field's label. */
const DIALOG = /dialog: \{[^}]*?label: "([^"]+)"/g;
const CONTROL = /<(?:input|select|textarea)\s[\s\S]*?(?:\/>|>\n)/g;
const TOO_LONG = "x".repeat(1000);

/**
 * A function that opens the field's page, an invalid value, the expected message, and the submit button's name. Without
 * a button, the message appears during input.
 */
type Case = [open: (page: Page) => Promise<unknown>, value: string, message: RegExp, button?: string];

/** The reason why a field has no invalid value. */
const LIST = "people choose from a list";

describeIfNamed(import.meta.filename)("forms of the web pages", () => {
  const explorer = sharedExplorer();
  const world = sharedDashboard();
  let explorerPage: ObservedPage;
  let staffPage: ObservedPage;
  let operatorPage: ObservedPage;

  before(async () => {
    explorerPage = await explorer.world.open(await explorer.world.serve({ visitorEndpoints: true }));
    staffPage = await world.signIn("Fay");
    operatorPage = await world.signIn("Fritz", { bizID: null });
  });
  after(async () => {
    for (const opened of [explorerPage, staffPage, operatorPage]) await opened[Symbol.asyncDispose]();
  });

  const inPage = (route: string) => async (page: Page) => {
    await page.goto(`${page.url().replace(/#.*/, "")}#/${route}`);
    // The reload removes other fields of an earlier case.
    await page.reload();
  };
  const verified = async (page: Page) => {
    await inPage(`verify/${explorer.world.victim.userID}`)(page);
    await done(page);
  };

  /** Returns a function that opens a page and then a form with a button. */
  const inForm = (route: string, name: string) => async (page: Page) => {
    await inPage(route)(page);
    await click(page, name);
  };

  const opened = (title: string) => async (page: Page) => {
    await verified(page);
    await page.getByText(title, { exact: true }).click();
  };

  const EXPLORER: Readonly<Record<string, Case | string>> = {
    "explorer/home/compareForm.tsx: User id or root": [
      inPage(""),
      "hello",
      /has 32 characters, but this has 5/,
      "Verify",
    ],
    "explorer/home/compareForm.tsx: Their key (optional)": "the next page compares it and shows the error",
    "explorer/verify/evidenceForm.tsx: Source of the block": LIST,
    "explorer/verify/evidenceForm.tsx: How many must agree": LIST,
    "explorer/verify/evidenceForm.tsx: Endpoint": LIST,
    "explorer/verify/evidenceForm.tsx: Block hash": [
      async (page) => {
        await verified(page);
        await page.getByLabel("Source of the block").selectOption("A block that I trust");
      },
      ...(["0x12", /0x and 64 hex digits/, "Verify with this evidence"] as const),
    ],
    "explorer/verify/evidenceForm.tsx: URL of the endpoint": [
      opened("Add an endpoint of your own"),
      "ftp://example.com",
      /Enter the URL/,
      "Add endpoint",
    ],
    "explorer/verify/verificationView.tsx: Compare with the key or key id that you have (never sent)": [
      verified,
      "not a key",
      /This has 7\./,
    ],
    "explorer/bundle/bundlePage.tsx: Bundle": [inPage("bundle"), "", /Choose a bundle first/, "Verify bundle"],
    "explorer/bundle/bundlePage.tsx: Hash of the block": [
      async (page) => {
        await inPage("bundle")(page);
        const file = { name: "b.json", mimeType: "application/json", buffer: Buffer.from("{}") };
        await page.getByLabel("Bundle", { exact: true }).setInputFiles(file);
      },
      ...(["12", /0x and 64 hex digits/, "Verify bundle"] as const),
    ],
    "explorer/batch/batchPage.tsx: Find a user or key": [
      (page) => inPage(`batch/${explorer.world.root}`)(page),
      "nothing",
      /No record of this file/,
    ],
    "explorer/verify/safetyCodeForm.tsx: Your own user id": [
      opened("Compare the safety code with this user"),
      "hello",
      /but this has 5/,
    ],
    "explorer/verify/safetyCodeForm.tsx: Your own public key": [
      opened("Compare the safety code with this user"),
      "short",
      /140 characters/,
    ],
    "explorer/verify/safetyCodeForm.tsx: Your own account":
      "only a registry with accounts has this field, in explorerAccounts.test.ts",
    "explorer/verify/qrReader.tsx: Or a picture of the QR code": "people choose a file, in explorerSafetyCode.test.ts",
    "explorer/list/listPage.tsx: Contact list": "people choose a file, in explorerList.test.ts",
    "explorer/verify/safetyCodeForm.tsx: What the other app shows (optional)": [
      async (page) => {
        await opened("Compare the safety code with this user")(page);
        const [own] = explorer.world.records;
        await page.getByLabel("Your own user id").fill(own?.userID ?? "");
        await page.getByLabel("Your own public key").fill(own?.pubKey ?? "");
      },
      ...(["123", /not a safety code/] as const),
    ],
  };

  const STAFF: typeof EXPLORER = {
    "dashboard/tokens/serversPage.tsx: Name (optional)": [
      inForm("servers", "Create a server token"),
      TOO_LONG,
      /^The name /,
      "Create",
    ],
    "dashboard/users/userPage.tsx: Context": [
      async (page) => {
        const server = await world.service.createServerToken(world.bizID);
        const { userID } = await world.service.createUser({ bizID: world.bizID, ...server });
        await inForm(`users/${userID}`, "Create a refresh token")(page);
      },
      ...([TOO_LONG, /^The context /, "Create"] as const),
    ],
    "dashboard/users/usersPage.tsx: State": LIST,
    "dashboard/users/usersPage.tsx: Region": LIST,
    "dashboard/users/endUserCard.tsx: Type the user id to confirm": [
      async (page) => {
        const server = await world.service.createServerToken(world.bizID);
        const { userID } = await world.service.createUser({ bizID: world.bizID, ...server });
        await inForm(`users/${userID}`, "Erase")(page);
      },
      ...(["hello", /but this has 5/, "Erase"] as const),
    ],
    "dashboard/users/keyDecision.tsx: Key id that the user reads to you": [
      async (page) => {
        const server = await world.service.createServerToken(world.bizID);
        const user = await world.service.createUser({ bizID: world.bizID, ...server });
        await world.offerConflictingKey(user);
        await inPage(`users/${user.userID}`)(page);
      },
      ...(["hello", /none of these keys/] as const),
    ],
    "dashboard/staff/passkeysCard.tsx: Name": [
      async (page) => {
        await inPage("company")(page);
        await page
          .getByRole("button", { name: /^Rename passkey/ })
          .first()
          .click();
      },
      ...([TOO_LONG, /^The name /, "Rename"] as const),
    ],
    "dashboard/users/createUserDialog.tsx: User id": [
      inForm("users", "Create a user"),
      "hello",
      /but this has 5/,
      "Create",
    ],
    "dashboard/staff/inviteDialog.tsx: Name": [
      inForm("company", "Invite a person"),
      TOO_LONG,
      /name|characters/i,
      "Create the link",
    ],
    "dashboard/webhooks/endpointDialog.tsx: URL": [
      ...([inForm("webhooks", "Add an endpoint"), "ftp://example.com"] as const),
      ...([/^This URL cannot be used: it must begin with https:/, "Add"] as const),
    ],
    "dashboard/shared/goTo.tsx: Name or id": "every text can be searched",
    "dashboard/shared/themeSelect.tsx: Colors": LIST,
    "dashboard/webhooks/deliveriesCard.tsx: Show": LIST,
    "dashboard/auditLog/auditLogPage.tsx: What": LIST,
    "dashboard/auditLog/auditLogPage.tsx: Who": LIST,
    "dashboard/auditLog/auditLogPage.tsx: From": "browsers accept only days, and the field To checks the order",
    "dashboard/auditLog/auditLogPage.tsx: To": [
      async (page) => {
        await inPage("audit")(page);
        await page.getByLabel("From").fill("2026-03-02");
      },
      ...(["2026-03-01", /before the day in From/, "Show"] as const),
    ],
    "dashboard/auditLog/auditLogPage.tsx: User id (optional)": [inPage("audit"), "hello", /but this has 5/, "Show"],
  };

  const OPERATOR: typeof EXPLORER = {
    "dashboard/partners/partnersPage.tsx: Search": "every text can be searched",
    "dashboard/partners/partnersPage.tsx: Name": [
      inForm("partners", "Create a partner"),
      TOO_LONG,
      /^The name /,
      "Create",
    ],
    "dashboard/partners/partnerPage.tsx: User limit (empty for no limit)": [
      (page) => inForm(`partners/${world.bizID}`, "Limit users")(page),
      "many",
      /^The limit /,
      "Save",
    ],
  };

  it("report a user id with a wrong length or a wrong character", () => {
    for (const [text, error] of [
      ["", "Enter a user id."],
      ["abc", "A user id in hex has 40 digits, but this has 3."],
      ["hello", "A user id has 32 characters, but this has 5."],
      ["l".repeat(32), "A user id cannot contain “l”."],
    ] as const)
      expect(readUserID(text)).to.deep.equal({ error });
  });

  it("have a test case for each field", () => {
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

  const check = async (page: Page, name: string, [open, value, message, button]: Case) => {
    await open(page);
    const scope = (await page.locator("dialog").count()) > 0 ? page.locator("dialog") : page.locator("main");
    const field = scope.getByLabel(name.replace(/^.*?: /, ""), { exact: true });
    if (value !== "") await field.fill(value);
    if (button !== undefined) await click(scope, button);
    await eventually(async () => {
      expect(await messageOf(field)).to.match(message);
    });
    await eventually(async () => {
      expect(await field.evaluate((element) => element === document.activeElement)).to.equal(true);
    });
    expect(await field.inputValue()).to.equal(value);
  };

  const EMPTY: Readonly<Record<string, [page: () => Page, form: Case | string | undefined, message: RegExp]>> = {
    Context: [() => staffPage.page, STAFF["dashboard/users/userPage.tsx: Context"], /^The context is missing\.$/],
    URL: [() => staffPage.page, STAFF["dashboard/webhooks/endpointDialog.tsx: URL"], /^Enter a URL\.$/],
    Name: [() => operatorPage.page, OPERATOR["dashboard/partners/partnersPage.tsx: Name"], /^The name is missing\.$/],
  };
  for (const [label, [pageOf, form, message]] of Object.entries(EMPTY)) {
    it(`focus an empty field and show a message: ${label}`, async () => {
      const [open, , , button = ""] = form as Case;
      await check(pageOf(), label, [open, "", message, button]);
    });
  }

  for (const [cases, pageOf] of [
    [EXPLORER, () => explorerPage.page],
    [STAFF, () => staffPage.page],
    [OPERATOR, () => operatorPage.page],
  ] as const) {
    for (const [name, field] of Object.entries(cases)) {
      if (typeof field === "string") continue;
      it(`keep an invalid value and show a message: ${name}`, async () => {
        await check(pageOf(), name, field);
      });
    }
  }
});

/** Returns the message that describes an invalid field to screen readers. */
function messageOf(field: Locator): Promise<string> {
  return field.evaluate((element) => {
    const ids = element.getAttribute("aria-describedby")?.split(" ") ?? [];
    const messages = ids.map((id) => element.closest(".field")?.querySelector(`[id="${id}"][role=alert]`)?.textContent);
    return element.getAttribute("aria-invalid") === "true" ? messages.join("") : "";
  });
}
