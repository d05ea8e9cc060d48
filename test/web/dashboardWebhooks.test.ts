import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { Webhook } from "standardwebhooks";
import { ACTIONS, EVENT_TYPES } from "../../packages/service/src/auditLog/recordChange.ts";
import { button, click, clickInDialog, follow, rows, sees, takeSecret } from "../support/browser/controls.ts";
import { runCommand } from "../support/browser/runCommand.ts";
import { sharedDashboard } from "../support/browser/dashboardWorld.ts";
import { describeIfNamed } from "../support/named.ts";
import { deliver } from "../support/service/deliver.ts";
import { startReceiver, type WebhookReceiver } from "../support/service/webhookReceiver.ts";

describeIfNamed(import.meta.filename)("webhook and audit log pages in Chromium", () => {
  const world = sharedDashboard();
  let receiver: WebhookReceiver;

  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  it("show the command that adds the first endpoint", async () => {
    const partner = await world.service.createPartner("Beginner");
    const { page } = await world.signIn("Bea", { bizID: partner.bizID });
    await follow(page, "Webhooks");
    await sees(page, "There is no endpoint yet");
    await runCommand(page, { TOKEN: partner.refreshToken });
    await page.reload();
    await page.getByRole("link", { name: "https://example.com/keyroot" }).waitFor();
  });

  it("show an endpoint's secret once", async () => {
    const { bizID } = await world.service.createPartner("Receiver");
    const opened = await world.signIn("Wanda", { bizID });
    const { page, complaints } = opened;
    await follow(page, "Webhooks");
    await click(page, "Add an endpoint");
    const types = await page.getByRole("dialog").locator("fieldset code").allTextContents();
    expect(types).to.have.members([...EVENT_TYPES]);
    const url = `${receiver.url}?<b>markup</b>`;
    await page.getByRole("textbox", { name: "URL" }).fill(url);
    await page.getByText("Only some events").click();
    await page.getByLabel("user.created").check();
    await clickInDialog(page, "Add");
    const secret = await takeSecret(world, opened, "the secret");
    await rows(page, "1 type of event").getByRole("link").click();
    await click(page, "Send a test");
    await sees(page, "Your server responded with status 204");
    const { body, headers } = receiver.received.at(-1) ?? { body: "", headers: {} };
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).to.include({ type: "webhook.test" });

    await click(page, "New secret");
    await clickInDialog(page, "Make a new secret");
    const second = await takeSecret(world, opened, "the secret");
    expect(second)
      .to.match(/^whsec_/)
      .and.not.equal(secret);
    await click(page, "Delete");
    await clickInDialog(page, "Delete");
    await sees(page, "There is no endpoint yet");
    expect(complaints).to.deep.equal([]);
  });

  it("repeat a delivery and pause the endpoint", async () => {
    const partner = await world.service.createPartner("Sender");
    const { jwt: token } = partner;
    await world.service.done(
      "/v1/authdBizSrv/webhooks/create",
      { url: receiver.url, types: ["user.created"] },
      { token },
    );
    await world.service.createUser(partner);
    await deliver(world.service);
    const opened = await world.signIn("Sid", { bizID: partner.bizID });
    const reading = await world.signIn("Rita", { bizID: partner.bizID, role: "reader" });
    const { page, complaints } = opened;
    await follow(page, "Webhooks");
    await follow(page, receiver.url);
    const row = rows(page, "user.created");
    await row.getByText("received").waitFor();
    await row.getByText("status 204").waitFor();
    await reading.page.goto(page.url());
    await rows(reading.page, "user.created").waitFor();
    expect(await reading.page.getByRole("button", { name: /Send|Pause|Edit|Delete|New/ }).count()).to.equal(0);

    await click(page, "Pause");
    await sees(page, "events wait, and are sent when you resume it");
    await row.getByRole("button", { name: /^Send again/ }).click();
    await sees(page, "1 delivery is sent again.");
    await row.getByText("waits").waitFor();
    await click(page, "Resume");
    await button(page, "Pause").waitFor();
    const before = receiver.received.length;
    await deliver(world.service);
    await receiver.until(before + 1);
    await click(page, "Load again");
    await row.getByText("received").waitFor();
    await page.getByLabel("Show").selectOption("failed");
    await sees(page, "There are no deliveries.");
    await click(page, "Edit");
    expect(await page.getByRole("textbox", { name: "URL" }).inputValue()).to.equal(receiver.url);
    await page.getByRole("textbox", { name: "URL" }).fill(`${receiver.url}/2`);
    await clickInDialog(page, "Save");
    await page.locator(".facts").getByText(`${receiver.url}/2`).waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it("filter and export the audit log", async () => {
    const partner = await world.service.createPartner("Audited");
    const users = await Promise.all(Array.from({ length: 30 }, () => world.service.createUser(partner)));
    const { page, complaints } = await world.signIn("Aud <b>it</b>", { bizID: partner.bizID, role: "reader" });
    await follow(page, "Audit log");
    await rows(page, "session started").getByText("Aud <b>it</b>").first().waitFor();
    const actions = await page
      .getByLabel("What")
      .locator("option")
      .evaluateAll((options) => options.map((option) => option.getAttribute("value")).filter((value) => value !== ""));
    expect(actions).to.have.members([...ACTIONS]);
    expect(await rows(page).count()).to.equal(25);
    const heights = await rows(page).evaluateAll((list) => list.map((row) => row.getBoundingClientRect().height));
    expect(Math.max(...heights), "a closed entry is one line").to.be.below(60);
    await click(page, "Next");
    await sees(page, "Page 2");
    await page.getByLabel("What").selectOption("user.created");
    await click(page, "Show");
    await sees(page, "Page 1");
    await rows(page, "session started").first().waitFor({ state: "detached" });
    for (const [button, format] of [
      ["Export CSV", "csv"],
      ["Export JSON lines", "jsonl"],
    ] as const) {
      const [file] = await Promise.all([page.waitForEvent("download"), click(page, button)]);
      expect(file.suggestedFilename()).to.equal(`audit-log.${format}`);
      const text = await readFile(await file.path(), "utf8");
      // CSV also has a line with the column names.
      expect(text.trimEnd().split("\n")).to.have.length(format === "csv" ? 31 : 30);
      for (const { userID } of users) expect(text).to.contain(userID);
    }
    await page.getByRole("textbox", { name: "User id" }).fill(users[0]?.hex ?? "");
    await click(page, "Show");
    await rows(page).nth(1).waitFor({ state: "detached" });
    await rows(page).locator("summary").click();
    await page.getByRole("link", { name: users[0]?.userID ?? "" }).waitFor();
    await click(page, "Only this actor");
    await sees(page, "Only entries by the actor");
    await page.getByLabel("To", { exact: true }).fill("2020-01-01");
    await click(page, "Show");
    await sees(page, "No entry matches the filter.");
    // The controls never show another filter than the one that is used.
    await page.goto(page.url().replace(/#.*/, "#/audit?user=hello&what=nothing&from=2026-13-01"));
    await sees(page, "but this has 5");
    await rows(page, "session started").first().waitFor();
    expect(await page.getByLabel("What").inputValue()).to.equal("");
    expect(await page.getByLabel("From").inputValue()).to.equal("");
    expect(complaints).to.deep.equal([]);
  });

  it("show the operator the audit log of all partners", async () => {
    const { page } = await world.signIn("Ora", { bizID: null, role: "reader" });
    await follow(page, "Audit log");
    await page.getByLabel("What").selectOption("partner.created");
    await click(page, "Show");
    await rows(page, "partner created").first().locator("summary").click();
    await rows(page, "partner created").first().getByRole("link", { name: /^biz_/ }).waitFor();
  });
});
