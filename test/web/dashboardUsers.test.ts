import { expect } from "chai";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { generateKeyPair } from "../../packages/keyroot/src/identity/newPublicKey.ts";
import { button, click, clickInDialog, follow, rows, sees, takeSecret } from "../support/browser/controls.ts";
import { eventually } from "../support/browser/eventually.ts";
import { runCommand } from "../support/browser/runCommand.ts";
import { sharedDashboard } from "../support/browser/dashboardWorld.ts";
import type { TestUser } from "../support/service/caller.ts";
import { expectNowhere } from "../support/browser/expectNowhere.ts";
import { describeIfNamed } from "../support/named.ts";

/** Finds the link to a user in a list. The list shows the shortened id. */
const userLink = (page: Page, userID: string) => page.locator(`a[href="#/users/${userID}"]`);
const followUser = (page: Page, userID: string) => userLink(page, userID).click();

describeIfNamed(import.meta.filename)("user pages in Chromium", () => {
  const world = sharedDashboard();

  it("show the commands that create the first user", async () => {
    const partner = await world.service.createPartner("Beginner");
    const { page } = await world.signIn("Bea", { bizID: partner.bizID });
    await follow(page, "Users");
    await sees(page, "There is no user yet");
    const { user_id } = await runCommand(page, { TOKEN: partner.refreshToken });
    await page.reload();
    await followUser(page, String(user_id));
    await sees(page, "no public key yet");
  });

  it("find a user by either form of the id", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Finder", 2);
    const [, user] = users;
    const { page, complaints } = await world.signIn("Fred", { bizID, role: "reader" });
    await follow(page, "Users");
    for (const id of [user?.hex.toUpperCase() ?? "", ` ${user?.userID ?? ""} `]) {
      await page.getByLabel("User id", { exact: true }).fill(id);
      await click(page, "Find");
      await page
        .locator(".facts")
        .getByText(user?.userID ?? "")
        .waitFor();
      await page.getByText(user?.hex ?? "").waitFor();
      await sees(page, "Oregon (us-west-2)");
      await follow(page, "All users");
    }
    await page.getByLabel("User id", { exact: true }).fill("0".repeat(40));
    await click(page, "Find");
    await sees(page, "USER_UNKNOWN");
    // A reader has no button that changes anything.
    await page.goBack();
    await followUser(page, user?.userID ?? "");
    await sees(page, "A phone");
    expect(await page.getByRole("button", { name: /Create|Revoke|Deactivate|Erase/ }).count()).to.equal(0);
    expect(complaints).to.deep.equal([]);
  });

  it("create a user with a random id or an entered id", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Creator", 1);
    const { page } = await world.signIn("Carl", { bizID });
    await follow(page, "Users");
    await click(page, "Create a user");
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("User id", { exact: true }).inputValue()).to.match(/^[a-z0-9]{32}$/);
    await dialog.getByLabel("User id", { exact: true }).fill(users[0]?.hex ?? "");
    await dialog.getByLabel("Ireland (eu-west-1)").check();
    await click(page, "Create");
    await sees(page, "You have already created this user in the region us-west-2");
    expect(await dialog.getByLabel("User id", { exact: true }).inputValue()).to.equal(users[0]?.hex);
    await dialog.getByLabel("User id", { exact: true }).fill("7".repeat(40));
    await click(page, "Create");
    await page.locator(".facts").getByText("7".repeat(40)).waitFor();
    await sees(page, "Ireland (eu-west-1)");
  });

  it("delete a user's new token from the page after Done", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Token company", 1);
    const opened = await world.signIn("Tina", { bizID });
    const { page, requests, complaints } = opened;
    await follow(page, "Users");
    await followUser(page, users[0]?.userID ?? "");
    await click(page, "Create a refresh token");
    const context = `<img src=x onerror="document.title='owned'">`;
    await page.getByLabel("Context").fill(context);
    await click(page, "Create");
    const token = await takeSecret(world, opened, "the token");
    expect(token).to.match(/^kru_us-west-2_[\w-]{43}$/);
    await rows(page, context).waitFor();
    await page.goBack();
    await sees(page, "All users, newest first");
    await page.goForward();
    await rows(page, context).getByText("never used").waitFor();
    await expectNowhere(world, page, token, requests);
    expect(await page.title()).to.match(/^\S{8}…\S{6} · Users · Keyroot dashboard$/);

    await click(page, `Revoke: ${context}`);
    await sees(page, "signed out immediately");
    await click(page, "Revoke");
    await rows(page, context).getByText("revoked").first().waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it("show the state of a key", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Key company", 2);
    const [user] = users;
    if (user === undefined) throw new Error("No user was created.");
    await world.service.registerKey(user, generateKeyPair());
    const { page } = await world.signIn("Kim", { bizID });
    await follow(page, "Users");
    await followUser(page, user.userID);
    await page.locator(".badge", { hasText: /^in the next batch$/ }).waitFor();
    const [root, transactionHash] = ["ab".repeat(32), `0x${"cd".repeat(32)}`];
    await world.publish(root, [user.userID], { transactionHash });
    await page.reload();
    await page.locator(".badge", { hasText: /^published$/ }).waitFor();
    await sees(page, root);
    const entry = page.getByRole("link", { name: transactionHash });
    expect(await entry.getAttribute("href")).to.equal(`https://chain.test/tx/${transactionHash}`);
    const link = page.getByRole("link", { name: "Verify it in the explorer" });
    expect(await link.getAttribute("href")).to.equal(`https://explorer.test/#/verify/${user.userID}`);
  });

  it("approve a key after 3 clicks, only if the user reads its key id", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Deciding company", 1);
    const [user] = users as [TestUser];
    const [keyID, otherID] = await world.offerConflictingKey(user);
    const { page, complaints } = await world.signIn("Dora", { bizID });
    await follow(page, "Show");
    await followUser(page, user.userID);
    await page.locator(".offered li", { hasText: keyID }).getByText("the user’s app, token “A phone”").waitFor();
    await page.locator(".offered li", { hasText: otherID }).getByText("rejected").waitFor();
    const field = page.getByLabel("Key id that the user reads to you");
    for (const [text, message] of [
      [otherID, "This is the other key."],
      ["A phone", "This is none of these keys."],
      [keyID.slice(0, 4), ""],
    ] as const) {
      await field.fill(text);
      if (message !== "") await sees(page, message);
      expect(await button(page, "Approve").isEnabled(), text).to.equal(false);
    }
    // Spaces and the padding do not count.
    await field.fill(keyID.replace("==", "").replace(/^..../, "$& "));
    await click(page, "Approve");
    await sees(page, "Its hold period is over");
    await page.getByText("There are conflicting keys for this user.").waitFor({ state: "detached" });
    await page.locator(".timeline li", { hasText: "Key approved by Dora" }).waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it("let only administrators decide, and discard a key after a confirmation", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Discarding company", 1);
    const [user] = users as [TestUser];
    const [keyID] = await world.offerConflictingKey(user);
    const { page, complaints } = await world.signIn("Dana", { bizID });
    const reading = await world.signIn("Rita", { bizID, role: "reader" });
    for (const shown of [page, reading.page]) {
      await shown.goto(`${world.url}#/users/${user.userID}`);
      await sees(shown, "It is not published until you decide");
    }
    expect(await reading.page.getByRole("button", { name: /Approve|Discard/ }).count()).to.equal(0);
    await click(page, "Discard");
    await sees(page.getByRole("dialog"), keyID);
    await click(page, "Cancel");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await click(page, "Discard");
    await clickInDialog(page, "Discard");
    await sees(page, "no public key yet");
    expect(complaints).to.deep.equal([]);
  });

  it("show what happened to a user, newest first", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("History company", 1);
    const [user] = users as [TestUser];
    await world.service.registerKey(user, generateKeyPair());
    const { page } = await world.signIn("Hana", { bizID, role: "reader" });
    await page.goto(`${world.url}#/users/${user.userID}`);
    const items = page.locator(".timeline li b");
    await items.first().waitFor();
    expect(await items.allInnerTexts()).to.deep.equal([
      ...["Hold period ended", "Key registered", "Refresh token created: A phone", "User created"],
    ]);
    expect(await page.title()).to.match(/^\S{8}…\S{6} · Users · Keyroot dashboard$/);
    await follow(page, "Show with details");
    expect(await page.getByRole("textbox", { name: "User id" }).inputValue()).to.equal(user.userID);
    await rows(page, "key registered").waitFor();
    await page.reload();
    await rows(page, "key registered").waitFor();
    await rows(page, "session started").waitFor({ state: "detached" });
  });

  it("explain why a submitted key cannot be discarded", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Late company", 1);
    const [user] = users as [TestUser];
    await world.service.registerKey(user, generateKeyPair());
    const { page } = await world.signIn("Lea", { bizID });
    await page.goto(`${world.url}#/users/${user.userID}`);
    await click(page, "Discard");
    const dialog = page.getByRole("dialog");
    await sees(dialog, "The user then has no key");
    await world.publish("4d".repeat(32), [user.userID]);
    await dialog.getByRole("button", { name: "Discard" }).click();
    await sees(dialog, "PUBLIC_KEY_SUBMITTED");
    await click(page, "Cancel");
    await page.locator(".badge", { hasText: /^published$/ }).waitFor();
    await button(page, "Discard").waitFor({ state: "detached" });
  });

  it("explain why a suspended company cannot create users", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Suspended company", 1);
    await world.service.admin("/v1/admin/partners/suspend", { biz_id: bizID });
    const { page } = await world.signIn("Sue", { bizID });
    await sees(page, "has suspended your company");
    await follow(page, "Users");
    await userLink(page, users[0]?.userID ?? "").waitFor();
    await click(page, "Create a user");
    await click(page, "Create");
    await sees(page, "PARTNER_SUSPENDED");
  });

  it("list users by key state and region", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Long list", 27);
    const [waiting] = users;
    await world.service.registerKey(waiting ?? { jwt: "" }, generateKeyPair());
    const { page, complaints } = await world.signIn("Lisa", { bizID, role: "reader" });
    await follow(page, "Users");
    await page.getByRole("heading", { name: "Users 27" }).waitFor();
    const newest = await world.service.createUser({ bizID, ...(await world.service.createServerToken(bizID)) });
    await page.reload();
    await rows(page).nth(24).waitFor();
    expect(await rows(page).first().innerHTML()).to.contain(newest.userID);
    await click(page, "Next");
    await rows(page).nth(3).waitFor({ state: "detached" });
    expect(await rows(page).count()).to.equal(3);
    await click(page, "Previous");
    await userLink(page, newest.userID).waitFor();
    await page.getByLabel("State").selectOption("in the next batch");
    await rows(page).nth(1).waitFor({ state: "detached" });
    expect(await rows(page).innerText()).to.contain("in the next batch");
    expect(page.url()).to.match(/#\/users\?state=ready$/);
    await page.reload();
    await userLink(page, waiting?.userID ?? "").waitFor();
    expect(await rows(page).count()).to.equal(1);
    await page.getByLabel("Region").selectOption("eu-west-1");
    await sees(page, "No user matches the filter.");
    expect(complaints).to.deep.equal([]);
  });

  it("find a user by the beginning of the id after 1 click", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Prefix company", 3);
    const [user] = users as [TestUser];
    const { page } = await world.signIn("Pia", { bizID, role: "reader" });
    await follow(page, "Users");
    const prefix = user.userID.slice(0, 8);
    await page.getByLabel("User id", { exact: true }).fill(prefix);
    await click(page, "Find");
    await rows(page).nth(1).waitFor({ state: "detached" });
    await userLink(page, user.userID).waitFor();
    expect(await rows(page).count()).to.equal(1);
    expect(page.url()).to.match(new RegExp(`#/users\\?prefix=${prefix}$`));
    await page.reload();
    expect(await page.getByLabel("User id", { exact: true }).inputValue()).to.equal(prefix);
    // A click anywhere in the row opens the user's page.
    await rows(page).getByText("Oregon").click({ force: true });
    await page.locator(".facts").getByText(user.userID).waitFor();
  });

  it("go to a page, a user or a batch with Ctrl-K", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Going company", 2);
    const [user, other] = users as [TestUser, TestUser];
    await world.service.registerKey(user, generateKeyPair());
    const root = "ab12".repeat(16);
    await world.publish(root, [user.userID]);
    const { page, complaints } = await world.signIn("Gina", { bizID, role: "reader" });
    const search = async (text: string) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByLabel("Name or id").fill(text);
    };
    const dialogCloses = () => page.getByRole("dialog").waitFor({ state: "detached" });

    await search("pub");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Publishing" }).waitFor();
    await dialogCloses();
    for (const [text, { userID }] of [
      [user.userID.slice(0, 12).toUpperCase(), user],
      [other.hex, other],
    ] as const) {
      await search(text);
      await sees(page.getByRole("dialog").getByRole("status"), "1 result");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.locator(".facts").getByText(userID).waitFor();
      await dialogCloses();
    }
    await search(root.slice(0, 8));
    const batch = page.getByRole("dialog").getByRole("link", { name: "ab12ab12ab12ab12…ab12ab12" });
    expect(await batch.getAttribute("href")).to.equal(`https://explorer.test/#/batch/${root}`);
    await page.getByLabel("Name or id").fill("nothing");
    await sees(page.getByRole("dialog"), "Nothing has a name or id that begins like this.");
    await page.keyboard.press("Escape");
    await dialogCloses();
    await click(page, "Go to");
    await page.getByLabel("Name or id").waitFor();
    await page.keyboard.press("Escape");
    await dialogCloses();
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).to.equal("Go to");
    expect(complaints).to.deep.equal([]);
  });

  it("export the users as CSV", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Exporting company", 30);
    const { page } = await world.signIn("Xenia", { bizID, role: "reader" });
    await follow(page, "Users");
    const [file] = await Promise.all([page.waitForEvent("download"), click(page, "Export CSV")]);
    expect(file.suggestedFilename()).to.equal("users.csv");
    const lines = (await readFile(await file.path(), "utf8")).trimEnd().split("\r\n");
    expect(lines).to.have.length(31);
    expect(lines[0]).to.match(/^"user_id","user_id_hex","state"/);
    for (const { userID, hex } of users) expect(lines.join("\n")).to.contain(`"${userID}","${hex}","unregistered"`);
  });

  it("can be used with the keyboard", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Keyboard company", 3);
    const { page } = await world.signIn("Kay", { bizID });
    await follow(page, "Users");
    await userLink(page, users[0]?.userID ?? "").waitFor();
    const shown = await rows(page)
      .locator("a")
      .evaluateAll((links) => links.map((a) => a.getAttribute("href")));
    const [first, second] = shown.map((link) => users.find(({ userID }) => link?.endsWith(userID))) as [
      TestUser,
      TestUser,
    ];
    await userLink(page, first.userID).focus();
    await page.keyboard.press("ArrowDown");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("href"))).to.equal(
      `#/users/${second.userID}`,
    );
    await page.getByRole("button", { name: `Copy the user id ${first.userID.slice(0, 8)}` }).click();
    await eventually(async () => {
      expect(await page.evaluate(() => navigator.clipboard.readText())).to.equal(first.userID);
    });
    await page.keyboard.press("/");
    await page.keyboard.type(second.hex);
    await page.keyboard.press("Enter");
    await page.locator(".facts").getByText(second.userID).waitFor();
  });

  it("erase a user only after the id was typed", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Ending company", 2);
    const [user, other] = users as [TestUser, TestUser];
    const { page, complaints } = await world.signIn("Enda", { bizID });
    await page.goto(`${world.url}#/users/${user.userID}`);
    await click(page, "Deactivate");
    await sees(page.getByRole("dialog"), "All tokens of this user are rejected permanently");
    await clickInDialog(page, "Deactivate");
    await page.locator(".facts").getByText("all tokens of this user are rejected").waitFor();
    await button(page, "Deactivate").waitFor({ state: "detached" });
    await click(page, "Erase");
    await page.getByLabel("Type the user id to confirm").fill(other.userID);
    await clickInDialog(page, "Erase");
    await sees(page, "This is the id of another user.");
    await page.getByLabel("Type the user id to confirm").fill(user.hex);
    await clickInDialog(page, "Erase");
    await userLink(page, other.userID).waitFor();
    expect(await userLink(page, user.userID).count()).to.equal(0);
    await page.goto(`${world.url}#/users/${user.userID}`);
    await sees(page, "USER_ERASED");
    expect(complaints).to.deep.equal([]);
  });
});
