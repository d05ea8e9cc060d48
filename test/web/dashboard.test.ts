import { expect } from "chai";
import type { Page } from "playwright-core";
import { sharedWorld } from "../support/browser/dashboardWorld.ts";
import { eventually } from "../support/browser/eventually.ts";
import { expectNowhere } from "../support/browser/expectNowhere.ts";
import { describeIfNamed } from "../support/named.ts";

describeIfNamed(import.meta.filename)("the dashboard in Chromium", function () {
  this.timeout(30_000);
  const world = sharedWorld;

  before(async function () {
    this.timeout(120_000);
    await world.start();
  });

  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
  const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { name });
  const expectCopied = (page: Page, text: string) =>
    eventually(async () => {
      expect(await page.evaluate(() => navigator.clipboard.readText())).to.equal(text);
    });

  describe("signing in", () => {
    it("starts with an invitation, then a passkey signs in again", async () => {
      await using opened = await world.open(await world.invite("Ada"));
      const { page, complaints, requests } = opened;
      await heading(page, "You are invited").waitFor();
      expect(page.url()).to.equal(`${world.url}#/invitation`);
      await button(page, "Accept the invitation").click();
      await heading(page, "Welcome, Ada").waitFor();
      expect(await page.getByRole("navigation").count()).to.equal(0);
      await button(page, "Add a passkey").click();
      await heading(page, "Acme").waitFor();
      await page.locator(".row", { hasText: "Ada you" }).getByText("administrator · 1 passkey").waitFor();

      const cookies = await page.context().cookies(world.url);
      expect(cookies).to.have.length(1);
      expect(cookies[0]).to.include({ name: "__Host-keyroot", httpOnly: true, secure: true, sameSite: "Strict" });

      await button(page, "Sign out").click();
      await heading(page, "Sign in").waitFor();
      expect(await page.context().cookies(world.url)).to.deep.equal([]);
      await button(page, "Sign in with a passkey").click();
      await heading(page, "Acme").waitFor();
      await page.reload();
      await heading(page, "Acme").waitFor();
      expect(complaints).to.deep.equal([]);
      expect(new Set(requests.map((url) => new URL(url).origin))).to.deep.equal(new Set([new URL(world.url).origin]));
    });

    it("says so when a link was used before, and keeps who is signed in", async () => {
      const link = await world.invite("Twice");
      await using first = await world.open(link);
      await button(first.page, "Accept the invitation").click();
      await heading(first.page, "Welcome, Twice").waitFor();
      await using second = await world.open(link);
      await button(second.page, "Accept the invitation").click();
      await second.page.getByText("INVITATION_REFUSED").waitFor();
      await first.page.reload();
      await heading(first.page, "Welcome, Twice").waitFor();
    });

    it("with a link that a program previews or a person reloads does not use it up", async () => {
      const link = await world.invite("Previewed");
      expect((await fetch(link.replace("localhost", "127.0.0.1"))).status).to.equal(200);
      await using opened = await world.open(link);
      const { page } = opened;
      await button(page, "Accept the invitation").waitFor();
      await page.reload();
      await heading(page, "Open the link again").waitFor();
      await page.goto("about:blank");
      await page.goto(link);
      await button(page, "Accept the invitation").click();
      await heading(page, "Welcome, Previewed").waitFor();
    });

    it("without a passkey of this site shows what to do", async () => {
      await using opened = await world.open();
      const { page } = opened;
      await button(page, "Sign in with a passkey").click();
      await page.getByText("No passkey was used").waitFor();
      expect(await button(page, "Sign in with a passkey").isEnabled()).to.equal(true);
    });

    it("ends for a person who is removed meanwhile, at the next click", async () => {
      await using opened = await world.signIn("Removed soon");
      await using remaining = await world.signIn("Remaining");
      const { page } = remaining;
      await page.getByRole("button", { name: "Remove: Removed soon" }).click();
      await page.getByRole("dialog").getByText("sessions and passkeys of this person end now").waitFor();
      await button(page, "Remove").click();
      await page.getByText("Removed soon", { exact: true }).waitFor({ state: "detached" });
      await button(opened.page, "Add a passkey").click();
      await heading(opened.page, "Sign in").waitFor();
    });
  });

  describe("the company page", () => {
    it("copies the business identifier", async () => {
      await using opened = await world.signIn("Copier");
      const { page } = opened;
      await page.getByRole("button", { name: "Copy biz_id" }).click();
      await expectCopied(page, world.bizID);
    });

    it("invites a person, with the link shown until Done and nowhere afterwards", async () => {
      await using opened = await world.signIn("Inviter");
      const { page, requests, complaints } = opened;
      const opens = () => button(page, "Invite a person").click();
      await opens();
      await button(page, "Create the link").click();
      await page.getByText("Enter a name.").waitFor();
      await page.getByLabel("Name").fill("Inviter");
      await button(page, "Create the link").click();
      await page.getByText("There is a person with this name").waitFor();
      expect(await page.getByLabel("Name").inputValue()).to.equal("Inviter");
      await page.getByLabel("Name").fill("Grace");
      await button(page, "Create the link").click();
      const link = await page.locator("[data-secret] code").innerText();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Copy the link" }).click();
      await expectCopied(page, link);
      await button(page, "Done").click();
      await page.locator("[data-secret]").waitFor({ state: "detached" });

      const token = link.split("/").at(-1) ?? "";
      expect(token).to.have.length(43);
      await expectNowhere(world, page, token, requests);
      await using invited = await world.open(link);
      await button(invited.page, "Accept the invitation").click();
      await button(invited.page, "Add a passkey").click();
      await heading(invited.page, "Acme").waitFor();
      // A reader sees no button that changes the staff.
      expect(await button(invited.page, "Invite a person").count()).to.equal(0);
      // Until then, the page's own timing has the address with which it was opened.
      await invited.page.reload();
      await heading(invited.page, "Acme").waitFor();
      await expectNowhere(world, invited.page, token, invited.requests);
      expect(complaints).to.deep.equal([]);
    });

    it("forgets the link when the page is left, also for Back", async () => {
      await using opened = await world.signIn("Leaver");
      const { page } = opened;
      await button(page, "Invite a person").click();
      await page.getByLabel("Name").fill("Unfinished");
      await button(page, "Create the link").click();
      await page.locator("[data-secret]").waitFor();
      await page.goto("about:blank");
      await page.goBack();
      await heading(page, "Acme").waitFor();
      expect(await page.locator("[data-secret]").count()).to.equal(0);
    });

    it("adds a passkey and removes it, and keeps the last one", async () => {
      await using opened = await world.signIn("Collector");
      const { page } = opened;
      const own = page.locator("section", { has: page.getByRole("heading", { name: "Your passkeys" }) });
      await own.locator(".row").waitFor();
      expect(await own.getByRole("button", { name: /^Remove/ }).count()).to.equal(0);
      await world.addAuthenticator(page);
      await button(page, "Add a passkey").click();
      await own
        .getByRole("button", { name: /^Remove/ })
        .first()
        .waitFor();
      expect(await own.locator(".row").count()).to.equal(2);
      await own
        .getByRole("button", { name: /^Remove/ })
        .first()
        .click();
      await button(page, "Remove").click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await own.locator(".row").nth(1).waitFor({ state: "detached" });
      expect(await own.locator(".row").count()).to.equal(1);
    });

    it("shows markup in every name as text", async () => {
      const markup = `<img src=x onerror="document.title='owned'"><script>alert(1)</script>&amp;`;
      const bizID = await world.createPartner(markup);
      await using opened = await world.signIn(markup, { bizID });
      const { page, complaints } = opened;
      await heading(page, markup).waitFor();
      await page.locator(".row b", { hasText: markup }).waitFor();
      await button(page, "Make reader: " + markup).click();
      await page.getByRole("dialog").getByRole("heading", { name: markup }).waitFor();
      expect(await page.title()).to.equal("Company · Keyroot dashboard");
      expect(complaints).to.deep.equal([]);
    });
  });

  describe("the servers page", () => {
    it("creates a token that is shown until Done and works, and revokes it", async () => {
      const bizID = await world.createPartner("Server company");
      await using opened = await world.signIn("Operator of servers", { bizID });
      const { page, requests, complaints } = opened;
      await page.getByRole("link", { name: "Servers" }).click();
      await page.getByText("There is no server token yet").waitFor();
      expect(await page.innerText(".command"))
        .to.contain(bizID)
        .and.contain("/v1/public/auth/jwt");
      await button(page, "Create a server token").click();
      await page.getByLabel("Name (optional)").fill("x".repeat(201));
      await button(page, "Create").click();
      await page.getByText("must be at most 200 characters").waitFor();
      expect(await page.getByLabel("Name (optional)").inputValue()).to.have.length(201);
      const name = '<b onclick="x">backend</b>';
      await page.getByLabel("Name (optional)").fill(name);
      await button(page, "Create").click();
      const token = await page.locator("[data-secret] code").innerText();
      expect(token).to.match(/^krs_[\w-]{43}$/);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Copy the token" }).click();
      await expectCopied(page, token);
      await button(page, "Done").click();
      await page.locator("[data-secret]").waitFor({ state: "detached" });
      await page.locator(".row", { hasText: name }).waitFor();
      await expectNowhere(world, page, token, requests);
      await page.goBack();
      await heading(page, "Server company").waitFor();
      await page.goForward();
      await page.locator(".row", { hasText: name }).waitFor();
      await expectNowhere(world, page, token, requests);

      await world.service.exchange(bizID, token);
      await button(page, `Revoke: ${name}`).click();
      await page.getByText("Servers that use this token stop working at once").waitFor();
      await button(page, "Cancel").click();
      await world.service.exchange(bizID, token);
      await button(page, `Revoke: ${name}`).click();
      await button(page, "Revoke").click();
      await page.locator(".badge", { hasText: "revoked" }).waitFor();
      const refused = await world.service.post("/v1/public/auth/jwt", { biz_id: bizID, token });
      expect(refused.status).to.equal(401);
      expect(complaints).to.deep.equal([]);
      const changes = world.log.filter(
        (line) => /"action":"serverToken\.(created|revoked)"/.test(line) && line.includes(bizID),
      );
      expect(changes).to.have.length(2);
      for (const line of changes) expect(line).to.contain('"name":"Operator of servers"');
    });

    it("loads a long list page by page", async () => {
      const bizID = await world.createPartner("Company with many tokens");
      for (let i = 0; i < 52; i++)
        await world.service.admin("/v1/admin/serverTokens/create", { biz_id: bizID, name: `Token ${i}` });
      await using opened = await world.signIn("Reader of lists", { bizID, role: "reader" });
      const { page } = opened;
      await page.getByRole("link", { name: "Servers" }).click();
      await page.getByText("Token 49").waitFor();
      expect(await page.locator(".row").count()).to.equal(50);
      await button(page, "Show more").click();
      await page.getByText("Token 51").waitFor();
      expect(await page.locator(".row").count()).to.equal(52);
      expect(await page.getByRole("button", { name: /Revoke|Create/ }).count()).to.equal(0);
    });
  });

  describe("a failed call", () => {
    it("shows the reason and a button that repeats it", async () => {
      await using opened = await world.signIn("Offline");
      const { page } = opened;
      await page.route("**/api/staff/list", (route) => route.abort());
      await page.reload();
      await page.getByText("The service did not answer").waitFor();
      await page.unroute("**/api/staff/list");
      await button(page, "Try again").click();
      await page.getByText("Offline you").waitFor();
    });
  });

  describe("the policy", () => {
    it("has no unsafe source, allows the page's script and the chart's by their hashes, and forbids frames", async () => {
      const response = await fetch(world.url.replace("localhost", "127.0.0.1"));
      const policy = response.headers.get("Content-Security-Policy") ?? "";
      expect(policy).to.match(/^default-src 'none'; script-src(?: 'sha384-[A-Za-z0-9+/]+'){2}; style-src 'self';/);
      expect(policy).to.contain("require-trusted-types-for 'script'").and.contain("frame-ancestors 'none'");
      expect(policy).to.not.contain("unsafe");
    });
  });
});
