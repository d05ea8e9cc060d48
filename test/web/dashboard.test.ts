import { expect } from "chai";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { addAuthenticator } from "../support/browser/authenticator.ts";
import { button, click, clickInDialog, follow, rows, sees, takeSecret } from "../support/browser/controls.ts";
import { sharedDashboard } from "../support/browser/dashboardWorld.ts";
import { eventually } from "../support/browser/eventually.ts";
import { expectNowhere } from "../support/browser/expectNowhere.ts";
import { ROOT } from "../support/packages/installPackages.ts";
import { describeIfNamed } from "../support/named.ts";

describeIfNamed(import.meta.filename)("dashboard in Chromium", () => {
  const world = sharedDashboard();

  describe("at sign-in", () => {
    it("accepts an invitation and then a passkey", async () => {
      const { page, complaints, requests } = await world.open(await world.invite("Ada"));
      await sees(page, "You are invited");
      expect(page.url()).to.equal(`${world.url}#/invitation`);
      await click(page, "Accept the invitation");
      await sees(page, "Welcome, Ada");
      expect(await page.getByRole("navigation").count()).to.equal(0);
      await click(page, "Add a passkey");
      await follow(page, "Company");
      await rows(page, "Ada you").getByText("administrator · 1 passkey").waitFor();
      expect(await page.context().cookies(world.url)).to.have.length(1);

      await click(page, "Sign out");
      await button(page, "Sign in with a passkey").waitFor();
      expect(await page.context().cookies(world.url)).to.deep.equal([]);
      await click(page, "Sign in with a passkey");
      await rows(page, "Ada you").waitFor();
      await page.reload();
      await rows(page, "Ada you").waitFor();
      expect(complaints).to.deep.equal([]);
      expect(new Set(requests.map((url) => new URL(url).origin))).to.deep.equal(new Set([new URL(world.url).origin]));
    });

    it("rejects a used link and keeps the session", async () => {
      const link = await world.invite("Twice");
      const first = await world.open(link);
      await click(first.page, "Accept the invitation");
      await sees(first.page, "Welcome, Twice");
      const second = await world.open(link);
      await click(second.page, "Accept the invitation");
      await sees(second.page, "INVITATION_REFUSED");
      await first.page.reload();
      await sees(first.page, "Welcome, Twice");
    });

    it("accepts a link after a preview or a reload", async () => {
      const link = await world.invite("Previewed");
      expect((await fetch(link.replace("localhost", "127.0.0.1"))).status).to.equal(200);
      const { page } = await world.open(link);
      await button(page, "Accept the invitation").waitFor();
      await page.reload();
      await sees(page, "Open the link again");
      await page.goto("about:blank");
      await page.goto(link);
      await click(page, "Accept the invitation");
      await sees(page, "Welcome, Previewed");
    });

    it("explains how to sign in without a passkey", async () => {
      const { page } = await world.open();
      await click(page, "Sign in with a passkey");
      await sees(page, "No passkey was used");
      expect(await button(page, "Sign in with a passkey").isEnabled()).to.equal(true);
    });

    it("ends the session of a removed person", async () => {
      const opened = await world.signIn("Removed soon");
      const remaining = await world.signIn("Remaining");
      const { page } = remaining;
      for (const person of [opened, remaining]) await follow(person.page, "Company");
      await click(page, "Remove: Removed soon");
      await sees(page.getByRole("dialog"), "sessions and passkeys of this person end now");
      await clickInDialog(page, "Remove");
      await page.getByText("Removed soon", { exact: true }).waitFor({ state: "detached" });
      await click(opened.page, "Add a passkey");
      await button(opened.page, "Sign in with a passkey").waitFor();
    });
  });

  describe("on the overview", () => {
    it("links each number to its list", async () => {
      const bizID = await world.createPartner("Quiet company");
      const { page, complaints } = await world.signIn("Quinn", { bizID });
      await sees(page, "Nothing to do.");
      const addresses = await page.locator(".number").evaluateAll((links) => links.map((a) => a.getAttribute("href")));
      expect(addresses).to.include.members(["#/users?state=undecided", "#/users?state=waiting", "#/webhooks"]);
      await page.locator(".number", { hasText: "Waiting for a decision" }).click();
      await sees(page, "No user matches the filter.");
      expect(await page.getByLabel("State").inputValue()).to.equal("undecided");
      expect(complaints).to.deep.equal([]);
    });

    it("lists open tasks first", async () => {
      const { bizID, users } = await world.createPartnerWithUsers("Busy company", 1);
      const [user] = users;
      if (user === undefined) throw new Error("No user was created.");
      await world.offerConflictingKey(user);
      const { page } = await world.signIn("Beth", { bizID });
      await sees(page, "1 key waits for your decision.");
      await follow(page, "Show");
      await rows(page).getByText("waiting for a decision").waitFor();
    });
  });

  describe("in the header", () => {
    for (const width of [390, 1280]) {
      it(`shows all items in one row at ${width} pixels`, async () => {
        const { page } = await world.signIn(
          `Bartholomew Featherstonehaugh ${width}`,
          {},
          { viewport: { width, height: 800 } },
        );
        const box = await page.locator(".header").boundingBox();
        expect(box?.height).to.be.at.most(84);
      });
    }

    it("shows the company, the stage and the chain", async () => {
      const { page } = await world.signIn("Placed");
      expect(await page.locator(".place").getAttribute("title")).to.equal("Acme · test");
      await sees(page, "Times are in the time zone");
    });

    it("keeps the chosen colors", async () => {
      const { page } = await world.signIn("Dark", {}, { colorScheme: "light" });
      const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      const light = await background();
      await page.getByLabel("Colors").selectOption("dark");
      const dark = await background();
      expect(dark).to.not.equal(light);
      await page.reload();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      expect(await background()).to.equal(dark);
    });

    it("shows no empty menu after signing out on phones", async () => {
      const { page } = await world.signIn("Phone without a menu", {}, { viewport: { width: 390, height: 800 } });
      await click(page, "Menu");
      await click(page, "Sign out");
      await button(page, "Sign in with a passkey").waitFor();
      expect(await page.locator("#menu").count()).to.equal(0);
      await click(page, "Sign in with a passkey");
      await button(page, "Menu").waitFor();
      expect(await page.getByRole("navigation").isVisible()).to.equal(false);
    });

    it("names pages that do not exist", async () => {
      const { page } = await world.signIn("Lost");
      for (const route of ["nothing", "company/abc", "users/abc/def", "system"]) {
        await page.goto(`${world.url}#/${route}`);
        await page.getByRole("heading", { name: "There is no such page" }).waitFor();
        expect(await page.title()).to.equal("No page · Keyroot dashboard");
        await follow(page, "Open the overview");
      }
    });

    it("shows the pages in a menu on phones", async () => {
      const { page } = await world.signIn("Phone", {}, { viewport: { width: 390, height: 800 } });
      const nav = page.getByRole("navigation");
      expect(await nav.isVisible()).to.equal(false);
      await click(page, "Menu");
      await nav.waitFor();
      await page.keyboard.press("Escape");
      await nav.waitFor({ state: "hidden" });
      await click(page, "Menu");
      await follow(page, "Users");
      await nav.waitFor({ state: "hidden" });
      await page.getByRole("heading", { name: "Users", level: 1 }).waitFor();
    });
  });

  describe("on the company page", () => {
    it("deletes an invitation's link after a click on Done", async () => {
      const opened = await world.signIn("Inviter");
      const { page, complaints } = opened;
      await follow(page, "Company");
      await click(page, "Invite a person");
      await page.getByLabel("Name", { exact: true }).fill("Inviter");
      await click(page, "Create the link");
      await sees(page, "Another person has this name");
      expect(await page.getByLabel("Name", { exact: true }).inputValue()).to.equal("Inviter");
      await page.getByLabel("Name", { exact: true }).fill("Grace");
      await click(page, "Create the link");
      const link = await takeSecret(world, opened, "the link");
      const token = link.split("/").at(-1) ?? "";
      expect(token).to.have.length(43);

      const invited = await world.open(link);
      await click(invited.page, "Accept the invitation");
      await click(invited.page, "Add a passkey");
      await follow(invited.page, "Company");
      await rows(invited.page, "Grace you").getByText("reader").waitFor();
      // A reader has no button that changes the staff.
      expect(await button(invited.page, "Invite a person").count()).to.equal(0);
      // Before the reload, the browser's record of the page load contains the link.
      await invited.page.reload();
      await rows(invited.page, "Grace you").waitFor();
      await expectNowhere(world, invited.page, token, invited.requests);
      expect(complaints).to.deep.equal([]);
    });

    it("hides an invitation's link after the Back button", async () => {
      const { page } = await world.signIn("Leaver");
      await follow(page, "Company");
      await click(page, "Invite a person");
      await page.getByLabel("Name", { exact: true }).fill("Unfinished");
      await click(page, "Create the link");
      await page.locator("[data-secret]").waitFor();
      await page.goto("about:blank");
      await page.goBack();
      await rows(page, "Leaver you").waitFor();
      expect(await page.locator("[data-secret]").count()).to.equal(0);
    });

    it("keeps the last passkey after it removes others", async () => {
      const { page } = await world.signIn("Collector");
      await follow(page, "Company");
      const own = page.locator("section", { has: page.getByRole("heading", { name: "Your passkeys" }) });
      const remove = own.getByRole("button", { name: /^Remove/ });
      await own.locator(".row", { hasText: / on (?:Linux|macOS|Windows)/ }).waitFor();
      expect(await remove.count()).to.equal(0);
      await own.getByRole("button", { name: /^Rename/ }).click();
      await page.getByLabel("Name", { exact: true }).fill("Blue laptop");
      await clickInDialog(page, "Rename");
      await own.locator(".row", { hasText: "Blue laptop" }).waitFor();
      await addAuthenticator(page, "usb");
      await click(page, "Add a passkey");
      await remove.first().waitFor();
      expect(await own.locator(".row").count()).to.equal(2);
      await remove.first().click();
      await clickInDialog(page, "Remove");
      await own.locator(".row").nth(1).waitFor({ state: "detached" });
      expect(await own.locator(".row").count()).to.equal(1);
    });

    it("shows markup in names as text", async () => {
      const markup = `<img src=x onerror="document.title='owned'"><script>alert(1)</script>&amp;`;
      const bizID = await world.createPartner(markup);
      const { page, complaints } = await world.signIn(markup, { bizID });
      await follow(page, "Company");
      await page.getByRole("heading", { name: markup }).waitFor();
      await page.locator(".row b", { hasText: markup }).waitFor();
      await click(page, `Make reader: ${markup}`);
      await page.getByRole("dialog").getByRole("heading", { name: markup }).waitFor();
      expect(await page.title()).to.equal("Company · Keyroot dashboard");
      expect(complaints).to.deep.equal([]);
    });
  });

  describe("on the servers page", () => {
    it("leads to the first request with a new token after 4 clicks", async () => {
      const bizID = await world.createPartner("First company");
      const { page, complaints } = await world.signIn("Fiona", { bizID });
      await follow(page, "Servers");
      await click(page, "Create a server token");
      await click(page, "Create");
      await sees(page, "Waiting for the first request…");
      // Until the list is loaded again, the page behind the dialog shows a command, too.
      await clickInDialog(page, "Copy the command");
      const command = await page.evaluate(() => navigator.clipboard.readText());
      const { stdout } = await promisify(execFile)("bash", ["-c", command]);
      expect(stdout).to.match(/^\{"jwt":"/);
      await sees(page, "The first request has arrived.");

      await click(page, "JavaScript");
      const program = await page.getByRole("dialog").locator(".command pre").innerText();
      const KEYROOT_SERVER_TOKEN = await page.locator("[data-secret] code").innerText();
      const options = { cwd: ROOT, env: { ...process.env, KEYROOT_SERVER_TOKEN } };
      const args = ["--input-type=module", "--eval", program];
      expect((await promisify(execFile)(process.execPath, args, options)).stdout).to.contain("user_id");
      expect(complaints).to.deep.equal([]);
    });

    it("copies the business identifier", async () => {
      const { page } = await world.signIn("Copier");
      await follow(page, "Servers");
      await click(page, "Copy biz_id");
      await eventually(async () => {
        expect(await page.evaluate(() => navigator.clipboard.readText())).to.equal(world.bizID);
      });
    });

    it("says that a value was not copied", async () => {
      const { page } = await world.signIn("Copier without permission");
      await page.evaluate(() => {
        navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
      });
      await follow(page, "Servers");
      await click(page, "Copy biz_id");
      const text = page.getByText("Not copied. Select the text instead.");
      await text.waitFor();
      expect((await text.boundingBox())?.width).to.be.above(100);
    });

    it("deletes a new token from the page after Done", async () => {
      const bizID = await world.createPartner("Server company");
      const opened = await world.signIn("Sam", { bizID });
      const { page, requests, complaints } = opened;
      await follow(page, "Servers");
      await sees(page, "There is no server token yet");
      expect(await page.innerText(".command"))
        .to.contain(bizID)
        .and.contain("/v1/public/auth/jwt");
      await click(page, "Create a server token");
      const name = '<b onclick="x">backend</b>';
      await page.getByLabel("Name (optional)").fill(name);
      await click(page, "Create");
      const token = await takeSecret(world, opened, "the token");
      expect(token).to.match(/^krs_[\w-]{43}$/);
      await rows(page, name).waitFor();
      await page.goBack();
      await sees(page, "Nothing to do.");
      await page.goForward();
      await rows(page, name).waitFor();
      await expectNowhere(world, page, token, requests);

      await click(page, `Revoke: ${name}`);
      await sees(page, "Servers that use this token stop working immediately");
      await click(page, "Cancel");
      await rows(page, name).getByText("active").waitFor();
      await click(page, `Revoke: ${name}`);
      await clickInDialog(page, "Revoke");
      await rows(page, name).getByText("revoked").first().waitFor();
      expect(complaints).to.deep.equal([]);
    });

    it("loads a long list in pages", async () => {
      const bizID = await world.createPartner("Company with many tokens");
      for (let i = 0; i < 52; i++)
        await world.service.admin("/v1/admin/serverTokens/create", { biz_id: bizID, name: `Token ${i}` });
      const { page } = await world.signIn("Reader of lists", { bizID, role: "reader" });
      await follow(page, "Servers");
      await sees(page, "Token 24");
      expect(await rows(page).count()).to.equal(25);
      await click(page, "Next");
      await sees(page, "Token 49");
      await click(page, "Next");
      await sees(page, "Token 51");
      expect(await rows(page).count()).to.equal(2);
      await click(page, "Previous");
      await sees(page, "Token 25");
      expect(await rows(page).count()).to.equal(25);
      expect(await page.getByRole("button", { name: /Revoke|Create/ }).count()).to.equal(0);
    });
  });

  describe("after a failed call", () => {
    // The route, the failing calls, and a text that the page shows after they succeed.
    for (const [route, calls, text] of [
      ["overview", /v1\/dashboard\/overview\/get$/, "Nothing to do."],
      ["company", /v1\/dashboard\/staff\/list$/, "Fay you"],
      ["users", /dashboard\/users\/list$/, "There is no user yet"],
      [`users/${"y".repeat(32)}`, /dashboard\/users\/get$/, "USER_UNKNOWN"],
      ["publishing", /v1\/dashboard\/publishing\//, "No key of your users is published yet"],
    ] as const) {
      it(`shows the reason and a retry button on ${route.replace(/\/.*/, "/…")}`, async () => {
        const bizID = await world.createPartner("Failing company");
        const { page } = await world.signIn("Fay", { bizID });
        await page.route(calls, (call) => call.abort());
        await page.goto(`${world.url}#/${route}`);
        await page.reload();
        const retries = button(page, "Try again");
        await sees(page, "The service did not respond");
        await page.waitForLoadState("networkidle");
        await page.unrouteAll();
        for (let left = await retries.count(); left > 0; left--) {
          await retries.first().click();
          if (left > 1) await retries.nth(left - 1).waitFor({ state: "detached" });
        }
        await sees(page, text);
      });
    }
  });

  describe("under its content security policy", () => {
    it("allows only two scripts by their hashes", async () => {
      const response = await fetch(world.url.replace("localhost", "127.0.0.1"));
      const policy = response.headers.get("Content-Security-Policy") ?? "";
      expect(policy).to.match(/^default-src 'none'; script-src(?: 'sha384-[A-Za-z0-9+/]+'){2}; style-src 'self';/);
      expect(policy).to.contain("require-trusted-types-for 'script'").and.contain("frame-ancestors 'none'");
      expect(policy).to.not.contain("unsafe");
    });
  });
});
