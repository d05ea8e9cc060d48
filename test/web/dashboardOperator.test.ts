import { expect } from "chai";
import type { Page } from "playwright-core";
import { runCommand } from "../support/browser/runCommand.ts";
import { sharedWorld } from "../support/browser/dashboardWorld.ts";
import { expectNowhere } from "../support/browser/expectNowhere.ts";
import { describeIfNamed } from "../support/named.ts";

describeIfNamed(import.meta.filename)("the operator's console in Chromium", function () {
  this.timeout(30_000);
  const world = sharedWorld;

  before(async function () {
    this.timeout(120_000);
    await world.start();
  });

  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

  it("creates a partner, and invites its first administrator with a link that is shown once", async () => {
    await using opened = await world.signIn("Olga", { bizID: null });
    const { page, requests, complaints } = opened;
    expect(await page.getByRole("navigation").innerText()).to.match(/^Partners\s+System\s+Audit log\s+People$/);
    await button(page, "Create a partner").click();
    await button(page, "Create").click();
    await page.getByText("The name is missing.").waitFor();
    const name = `<script>document.title='owned'</script>`;
    await page.getByLabel("Name").fill(name);
    await button(page, "Create").click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    expect(await page.title()).to.equal("Partners · Keyroot dashboard");
    await button(page, "Invite a person").click();
    await page.getByLabel("Name").fill("First");
    await button(page, "Create the link").click();
    const link = await page.locator("[data-secret] code").innerText();
    await page.keyboard.press("Escape");
    await button(page, "Done").click();
    await page.locator("[data-secret]").waitFor({ state: "detached" });
    await expectNowhere(world, page, link.split("/").at(-1) ?? "", requests);
    await using invited = await world.open(link);
    await button(invited.page, "Accept the invitation").click();
    await button(invited.page, "Add a passkey").click();
    await invited.page.getByRole("heading", { name, level: 1 }).waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it("begins with a command that creates the first partner", async () => {
    await using opened = await world.signIn("Ode", { bizID: null });
    const { page } = opened;
    await page.route("**/api/operator/listPartners", (route) => route.fulfill({ json: { partners: [], next: null } }));
    await page.reload();
    await page.getByText("There is no partner yet").waitFor();
    const { biz_id } = await runCommand(page, { ADMIN_TOKEN: world.service.adminToken });
    await page.unrouteAll();
    await page.goto(`${world.url}#/partners/${String(biz_id)}`);
    await page.getByRole("heading", { name: "Acme", level: 1 }).waitFor();
  });

  it("finds partners, and shows long lists page by page", async () => {
    for (let i = 0; i < 52; i++) await world.createPartner(`Listed ${i}`);
    await using opened = await world.signIn("Otto", { bizID: null, role: "reader" });
    const { page } = opened;
    await page.getByLabel("Search").fill("listed");
    await button(page, "Search").click();
    await page.getByRole("heading", { name: "Partners with “listed”" }).waitFor();
    await page.locator(".row").nth(49).getByText("Listed 49").waitFor();
    expect(await page.locator(".row").count()).to.equal(50);
    await button(page, "Show more").click();
    await page.getByText("Listed 51").waitFor();
    await page.getByLabel("Search").fill("none of them");
    await button(page, "Search").click();
    await page.getByText("No partner was found.").waitFor();
    // A reader has no button that changes anything.
    expect(await page.getByRole("button", { name: /Create/ }).count()).to.equal(0);
    await page.goto(`${world.url}#/partners/${world.bizID}`);
    await page.getByText("There is none yet. The partner’s administrators").waitFor();
    expect(await page.getByRole("button", { name: /Suspend|Limit|Invite|Revoke/ }).count()).to.equal(0);
  });

  it("suspends a partner, limits its users, and revokes its tokens", async () => {
    const { bizID, refreshToken, users } = await world.createPartnerWithUsers("Managed", 3);
    const exchange = () => world.service.post("/v1/public/auth/jwt", { biz_id: bizID, token: refreshToken });
    await using opened = await world.signIn("Omar", { bizID: null });
    const { page, complaints } = opened;
    await page.goto(`${world.url}#/partners/${bizID}`);
    await page.locator(".facts").getByText(String(users.length), { exact: true }).waitFor();
    await button(page, "Suspend").click();
    await page.getByText("are refused at once").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Suspend" }).click();
    await page.locator(".badge", { hasText: "suspended" }).waitFor();
    expect((await exchange()).status).to.equal(403);
    await button(page, "Resume").click();
    await page.getByRole("dialog").getByRole("button", { name: "Resume" }).click();
    await page.locator(".badge", { hasText: "suspended" }).waitFor({ state: "detached" });
    expect((await exchange()).status).to.equal(200);

    await button(page, "Limit users").click();
    await page.getByLabel("The most users").fill("many");
    await button(page, "Save").click();
    await page.getByText("The limit must be").waitFor();
    expect(await page.getByLabel("The most users").inputValue()).to.equal("many");
    await page.getByLabel("The most users").fill("5");
    await button(page, "Save").click();
    await page.getByText("3 of at most 5").waitFor();

    await button(page, "Revoke: Without a name").click();
    await button(page, "Revoke").click();
    await page.locator(".badge", { hasText: "revoked" }).waitFor();
    expect((await exchange()).status).to.equal(401);
    expect(complaints).to.deep.equal([]);
  });

  it("shows the state of databases, chain and stores without secrets, and publishes", async () => {
    await using opened = await world.signIn("Oda", { bizID: null });
    const { page, complaints } = opened;
    await page.getByRole("link", { name: "System" }).click();
    await page.getByText("home, us-west-2, eu-west-1").waitFor();
    await page.getByText("Chain 11155111").waitFor();
    await page.getByText("1.23457 ETH").waitFor();
    await page.getByText("FILE_UNREADABLE").waitFor();
    expect(await page.content()).to.not.contain("hunter2");
    await page.getByText("12 keys would be published now.").waitFor();
    await button(page, "Publish now").click();
    await button(page, "Publish").click();
    await page.getByText("Published: 1 batch.").waitFor();
    await page.getByText("7e".repeat(32)).waitFor();
    await page.route("**/api/operator/getStatus", (route) => route.abort());
    await button(page, "Check again").click();
    await page.getByText("The service did not answer").waitFor();
    await page.unrouteAll();
    await button(page, "Try again").click();
    await page.getByText("home, us-west-2, eu-west-1").waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it("manages the operator's own people", async () => {
    await using opened = await world.signIn("Opal", { bizID: null });
    const { page } = opened;
    await page.getByRole("link", { name: "People" }).click();
    await page.getByText("Opal you").waitFor();
    await button(page, "Invite a person").click();
    await page.getByLabel("Name").fill("Colleague");
    await button(page, "Create the link").click();
    const link = await page.locator("[data-secret] code").innerText();
    await using invited = await world.open(link);
    await button(invited.page, "Accept the invitation").click();
    await invited.page.getByText("the operator’s console").waitFor();
  });
});
