import { expect } from "chai";
import type { Page } from "playwright-core";
import { Webhook } from "standardwebhooks";
import { ACTIONS, EVENT_TYPES } from "../../packages/operator/src/service/store/changes.ts";
import { runCommand } from "../support/browser/runCommand.ts";
import { sharedWorld } from "../support/browser/dashboardWorld.ts";
import { expectNowhere } from "../support/browser/expectNowhere.ts";
import { describeIfNamed } from "../support/named.ts";
import { deliver } from "../support/service/deliver.ts";
import { startReceiver, type WebhookReceiver } from "../support/service/webhookReceiver.ts";

describeIfNamed(import.meta.filename)("the dashboard's webhooks and audit log in Chromium", function () {
  this.timeout(30_000);
  const world = sharedWorld;
  let receiver: WebhookReceiver;

  before(async function () {
    this.timeout(120_000);
    await world.start();
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
  const inDialog = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });
  const show = (page: Page, name: string) => page.getByRole("link", { name, exact: true }).click();

  it("begin with a command that adds the first endpoint", async () => {
    const partner = await world.service.createPartner("Beginner");
    await using opened = await world.signIn("Bea", { bizID: partner.bizID });
    const { page } = opened;
    await show(page, "Webhooks");
    await page.getByText("There is no endpoint yet").waitFor();
    await runCommand(page, { TOKEN: partner.refreshToken });
    await page.reload();
    await page.getByRole("link", { name: "https://example.com/keyroot" }).waitFor();
  });

  it("add an endpoint with a secret that is shown until Done, test it, and replace the secret", async () => {
    const { bizID } = await world.service.createPartner("Receiver");
    await using opened = await world.signIn("Wanda", { bizID });
    const { page, requests, complaints } = opened;
    await show(page, "Webhooks");
    await button(page, "Add an endpoint").click();
    await inDialog(page, "Add").click();
    await page.getByText("Enter a URL.").waitFor();
    await page.getByRole("textbox", { name: "URL" }).fill("ftp://example.com");
    const types = await page.getByRole("dialog").locator("fieldset code").allTextContents();
    expect(types).to.have.members([...EVENT_TYPES]);
    await inDialog(page, "Add").click();
    await page.getByText("This URL cannot be used: it must begin with https://").waitFor();
    expect(await page.getByRole("textbox", { name: "URL" }).inputValue()).to.equal("ftp://example.com");
    const url = `${receiver.url}?<b>markup</b>`;
    await page.getByRole("textbox", { name: "URL" }).fill(url);
    await page.getByText("Only some events").click();
    await page.getByLabel("user.created").check();
    await inDialog(page, "Add").click();
    const secret = await page.locator("[data-secret] code").innerText();
    await page.keyboard.press("Escape");
    await button(page, "Done").click();
    await page.locator("[data-secret]").waitFor({ state: "detached" });
    await expectNowhere(world, page, secret, requests);

    await page.locator(".row", { hasText: "1 type of event" }).getByRole("link").click();
    await button(page, "Send a test").click();
    await page.getByText("Your server responded with status 204").waitFor();
    const { body, headers } = receiver.received.at(-1) ?? { body: "", headers: {} };
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).to.include({ type: "webhook.test" });

    await button(page, "New secret").click();
    await inDialog(page, "Make a new secret").click();
    const second = await page.locator("[data-secret] code").innerText();
    expect(second)
      .to.match(/^whsec_/)
      .and.not.equal(secret);
    await button(page, "Done").click();
    await page.locator("[data-secret]").waitFor({ state: "detached" });
    await expectNowhere(world, page, second, requests);
    await button(page, "Delete").click();
    await inDialog(page, "Delete").click();
    await page.getByText("There is no endpoint yet").waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it("show what was sent, send it again, and let it wait while the endpoint is paused", async () => {
    const partner = await world.service.createPartner("Sender");
    const { jwt: token } = partner;
    await world.service.done(
      "/v1/authdBizSrv/webhooks/create",
      { url: receiver.url, types: ["user.created"] },
      { token },
    );
    await world.service.createUser(partner);
    await deliver(world.service);
    await using opened = await world.signIn("Sid", { bizID: partner.bizID });
    await using reading = await world.signIn("Rita", { bizID: partner.bizID, role: "reader" });
    const { page, complaints } = opened;
    await show(page, "Webhooks");
    await page.getByRole("link", { name: receiver.url }).click();
    const row = page.locator(".row", { hasText: "user.created" });
    await row.getByText("received").waitFor();
    await row.getByText("status 204").waitFor();
    await reading.page.goto(page.url());
    await reading.page.locator(".row", { hasText: "user.created" }).waitFor();
    expect(await reading.page.getByRole("button", { name: /Send|Pause|Edit|Delete|New/ }).count()).to.equal(0);

    await button(page, "Pause").click();
    await page.getByText("events wait, and are sent when you resume it").waitFor();
    await row.getByRole("button", { name: /^Send again/ }).click();
    await page.getByText("1 delivery is sent again.").waitFor();
    await row.getByText("waits").waitFor();
    await button(page, "Resume").click();
    await button(page, "Pause").waitFor();
    const before = receiver.received.length;
    await deliver(world.service);
    await receiver.until(before + 1);
    await button(page, "Load again").click();
    await row.getByText("received").waitFor();
    await page.getByLabel("Show").selectOption("failed");
    await page.getByText("There is none.").waitFor();
    await button(page, "Edit").click();
    expect(await page.getByRole("textbox", { name: "URL" }).inputValue()).to.equal(receiver.url);
    await page.getByRole("textbox", { name: "URL" }).fill(`${receiver.url}/2`);
    await inDialog(page, "Save").click();
    await page.locator(".facts").getByText(`${receiver.url}/2`).waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it("say which people changed what, with filters, and page by page", async () => {
    const partner = await world.service.createPartner("Audited");
    const users = await Promise.all(Array.from({ length: 30 }, () => world.service.createUser(partner)));
    await using opened = await world.signIn("Aud <b>it</b>", { bizID: partner.bizID, role: "reader" });
    const { page, complaints } = opened;
    await show(page, "Audit log");
    await page.locator(".row", { hasText: "session started" }).getByText("Aud <b>it</b>").first().waitFor();
    const actions = await page
      .getByLabel("What")
      .locator("option")
      .evaluateAll((options) => options.map((option) => option.getAttribute("value")).filter((value) => value !== ""));
    expect(actions).to.have.members([...ACTIONS]);
    expect(await page.locator(".row").count()).to.equal(50);
    await button(page, "Show more").click();
    await page.locator(".row").nth(50).waitFor();
    await page.getByLabel("What").selectOption("user.created");
    await button(page, "Show").click();
    await page.locator(".row").nth(30).waitFor({ state: "detached" });
    await page.locator(".row").nth(29).waitFor();
    await page.getByLabel("User id").fill("abc");
    await button(page, "Show").click();
    await page.getByText("but this has 3").waitFor();
    expect(await page.getByLabel("User id").inputValue()).to.equal("abc");
    await page.getByLabel("User id").fill(users[0]?.hex ?? "");
    await button(page, "Show").click();
    await page.locator(".row").nth(1).waitFor({ state: "detached" });
    await page.getByRole("link", { name: users[0]?.userID ?? "" }).waitFor();
    await page.getByLabel("To", { exact: true }).fill("2020-01-01");
    await button(page, "Show").click();
    await page.getByText("There is no such entry.").waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it("show the operator's people the audit log of all partners", async () => {
    await using opened = await world.signIn("Ora", { bizID: null, role: "reader" });
    const { page } = opened;
    await show(page, "Audit log");
    await page.getByLabel("What").selectOption("partner.created");
    await button(page, "Show").click();
    await page.locator(".row", { hasText: "partner created" }).first().getByRole("link", { name: /^biz_/ }).waitFor();
  });
});
