import { expect } from "chai";
import type { Page } from "playwright-core";
import { generateKeyPair } from "../../packages/keyroot/src/identity/newPublicKey.ts";
import { runCommand } from "../support/browser/runCommand.ts";
import { sharedWorld } from "../support/browser/dashboardWorld.ts";
import type { TestUser } from "../support/service/caller.ts";
import { expectNowhere } from "../support/browser/expectNowhere.ts";
import { describeIfNamed } from "../support/named.ts";

describeIfNamed(import.meta.filename)("the dashboard's users in Chromium", function () {
  this.timeout(30_000);
  const world = sharedWorld;

  before(async function () {
    this.timeout(120_000);
    await world.start();
  });

  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
  const showUsers = (page: Page) => page.getByRole("link", { name: "Users", exact: true }).click();

  it("begin with commands that create the first one", async () => {
    const partner = await world.service.createPartner("Beginner");
    await using opened = await world.signIn("Bea", { bizID: partner.bizID });
    const { page } = opened;
    await showUsers(page);
    await page.getByText("There is no user yet").waitFor();
    const { user_id } = await runCommand(page, { TOKEN: partner.refreshToken });
    await page.reload();
    await page.getByRole("link", { name: String(user_id) }).click();
    await page.getByText("no public key yet").waitFor();
  });

  it("are found by either form of the id, with a message beside the field otherwise", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Finder", 2);
    const [, user] = users;
    await using opened = await world.signIn("Fred", { bizID, role: "reader" });
    const { page, complaints } = opened;
    await showUsers(page);
    for (const id of [user?.hex.toUpperCase() ?? "", ` ${user?.userID ?? ""} `]) {
      await page.getByLabel("User id", { exact: true }).fill(id);
      await button(page, "Find").click();
      await page
        .locator(".facts")
        .getByText(user?.userID ?? "")
        .waitFor();
      await page.getByText(user?.hex ?? "").waitFor();
      await page.getByText("Oregon (us-west-2)").waitFor();
      await page.getByRole("link", { name: "All users" }).click();
    }
    await page.getByLabel("User id", { exact: true }).fill("abc");
    await button(page, "Find").click();
    await page.getByText("but this has 3").waitFor();
    expect(await page.getByLabel("User id", { exact: true }).inputValue()).to.equal("abc");
    await page.getByLabel("User id", { exact: true }).fill("0".repeat(40));
    await button(page, "Find").click();
    await page.getByText("USER_UNKNOWN").waitFor();
    // A reader has no button that changes anything.
    await page.goBack();
    await page.getByRole("link", { name: user?.userID ?? "" }).click();
    await page.getByText("A phone").waitFor();
    expect(await page.getByRole("button", { name: /Create|Revoke/ }).count()).to.equal(0);
    expect(complaints).to.deep.equal([]);
  });

  it("are created, with a random id or one that is entered", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Creator", 1);
    await using opened = await world.signIn("Carl", { bizID });
    const { page } = opened;
    await showUsers(page);
    await button(page, "Create a user").click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("User id", { exact: true }).inputValue()).to.match(/^[a-z0-9]{32}$/);
    await dialog.getByLabel("User id", { exact: true }).fill("xyz");
    await button(page, "Create").click();
    await page.getByText("but this has 3").waitFor();
    await dialog.getByLabel("User id", { exact: true }).fill(users[0]?.hex ?? "");
    await dialog.getByLabel("Ireland (eu-west-1)").check();
    await button(page, "Create").click();
    await page.getByText("This user id is already in use").waitFor();
    expect(await dialog.getByLabel("User id", { exact: true }).inputValue()).to.equal(users[0]?.hex);
    await dialog.getByLabel("User id", { exact: true }).fill("7".repeat(40));
    await button(page, "Create").click();
    await page.locator(".facts").getByText("7".repeat(40)).waitFor();
    await page.getByText("Ireland (eu-west-1)").waitFor();
  });

  it("get a token that is shown until Done and works, until it is revoked", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Token company", 1);
    await using opened = await world.signIn("Tina", { bizID });
    const { page, requests, complaints } = opened;
    await showUsers(page);
    await page.getByRole("link", { name: users[0]?.userID ?? "" }).click();
    await button(page, "Create a refresh token").click();
    await button(page, "Create").click();
    await page.getByText("The context is missing.").waitFor();
    const context = `<img src=x onerror="document.title='owned'">`;
    await page.getByLabel("Context").fill(context);
    await button(page, "Create").click();
    const token = await page.locator("[data-secret] code").innerText();
    expect(token).to.match(/^kru_us-west-2_[\w-]{43}$/);
    await page.keyboard.press("Escape");
    await button(page, "Done").click();
    await page.locator(".row", { hasText: context }).waitFor();
    await expectNowhere(world, page, token, requests);
    await page.goBack();
    await page.getByText("All users, by id").waitFor();
    await page.goForward();
    await page.locator(".row", { hasText: context }).getByText("never used").waitFor();
    await expectNowhere(world, page, token, requests);
    expect(await page.title()).to.equal("Users · Keyroot dashboard");

    await world.service.exchange(bizID, token);
    await button(page, `Revoke: ${context}`).click();
    await page.getByText("signed out at once").waitFor();
    await button(page, "Revoke").click();
    await page.locator(".row", { hasText: context }).getByText("revoked").first().waitFor();
    const refused = await world.service.post("/v1/public/auth/jwt", { biz_id: bizID, token });
    expect(refused.status).to.equal(401);
    expect(complaints).to.deep.equal([]);
  });

  it("show the state of their key, and link to the explorer when it is published", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Key company", 2);
    const [user] = users;
    if (user === undefined) throw new Error("No user was created.");
    await world.service.registerKey(user, generateKeyPair());
    await using opened = await world.signIn("Kim", { bizID });
    const { page } = opened;
    await showUsers(page);
    await page.getByRole("link", { name: user.userID }).click();
    await page.getByText("registered, not published yet").waitFor();
    const [root, transactionHash] = ["ab".repeat(32), `0x${"cd".repeat(32)}`];
    await world.publish(root, [user.userID], { transactionHash });
    await page.reload();
    await page.locator(".badge", { hasText: /^published$/ }).waitFor();
    await page.getByText(root).waitFor();
    await page.getByText(transactionHash).waitFor();
    const link = page.getByRole("link", { name: "Verify it in the explorer" });
    expect(await link.getAttribute("href")).to.equal(`https://explorer.test/#/verify/${user.userID}`);
  });

  it("whose key waits for a decision show the other keys, and an administrator approves or discards it", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Deciding company", 2);
    const [first, second] = users as [TestUser, TestUser];
    await using opened = await world.signIn("Dora", { bizID });
    await using reading = await world.signIn("Rita", { bizID, role: "reader" });
    const { page, complaints } = opened;
    for (const [user, action, text] of [
      [first, "Approve", "Its time to object is over"],
      [second, "Discard", "no public key yet"],
    ] as const) {
      const [keyID, otherID] = await world.disputeKey(user);
      for (const shown of [page, reading.page]) {
        await shown.goto(`${world.url}#/users/${user.userID}`);
        await shown.getByText("It waits for your decision").waitFor();
        await shown.locator(".facts").getByText(keyID).waitFor();
        await shown.locator(".row", { hasText: otherID }).getByText("offered and refused").waitFor();
      }
      expect(await reading.page.getByRole("button", { name: /Approve|Discard/ }).count()).to.equal(0);
      await button(page, action).click();
      await page.getByRole("dialog").getByText(keyID).waitFor();
      await button(page, "Cancel").click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await button(page, action).click();
      await page.getByRole("dialog").getByRole("button", { name: action }).click();
      await page.getByText(text).waitFor();
      await page.getByText("Other keys were offered for this user.").waitFor({ state: "detached" });
    }
    expect(complaints).to.deep.equal([]);
  });

  it("whose key is taken by a publisher meanwhile show why it cannot be discarded any more", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Late company", 1);
    const [user] = users as [TestUser];
    await world.service.registerKey(user, generateKeyPair());
    await using opened = await world.signIn("Lea", { bizID });
    const { page } = opened;
    await page.goto(`${world.url}#/users/${user.userID}`);
    await button(page, "Discard").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The user then has no key").waitFor();
    await world.publish("4d".repeat(32), [user.userID]);
    await dialog.getByRole("button", { name: "Discard" }).click();
    await dialog.getByText("PUBLIC_KEY_SUBMITTED").waitFor();
    await button(page, "Cancel").click();
    await page.locator(".badge", { hasText: /^published$/ }).waitFor();
    await button(page, "Discard").waitFor({ state: "detached" });
  });

  it("that do not load offer a retry, in the list and on their page", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Failing company", 1);
    await using opened = await world.signIn("Fay", { bizID });
    const { page } = opened;
    await page.route(/api\/users\/(list|get)$/, (route) => route.abort());
    await showUsers(page);
    await page.getByText("The service did not answer").waitFor();
    await page.unrouteAll();
    await button(page, "Try again").click();
    const link = page.getByRole("link", { name: users[0]?.userID ?? "" });
    await link.waitFor();
    await page.route(/api\/users\/(list|get)$/, (route) => route.abort());
    await link.click();
    await page.getByText("The service did not answer").waitFor();
    await page.unrouteAll();
    await button(page, "Try again").click();
    await page.getByText("no public key yet").waitFor();
  });

  it("of a suspended company are shown with the reason why nothing can be created", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Suspended company", 1);
    await world.service.admin("/v1/admin/partners/suspend", { biz_id: bizID });
    await using opened = await world.signIn("Sue", { bizID });
    const { page } = opened;
    await page.getByText("has suspended your company").waitFor();
    await showUsers(page);
    await page.getByRole("link", { name: users[0]?.userID ?? "" }).waitFor();
    await button(page, "Create a user").click();
    await button(page, "Create").click();
    await page.getByText("PARTNER_SUSPENDED").waitFor();
  });
});
