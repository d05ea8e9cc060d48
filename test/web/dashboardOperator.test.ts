import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { button, click, clickInDialog, follow, rows, sees, takeSecret } from "../support/browser/controls.ts";
import { REPORT, sharedDashboard } from "../support/browser/dashboardWorld.ts";
import { eventually } from "../support/browser/eventually.ts";
import { runCommand } from "../support/browser/runCommand.ts";
import { writeReport } from "../../packages/service/src/publishing/publisherState.ts";
import { describeIfNamed } from "../support/named.ts";

describeIfNamed(import.meta.filename)("operator pages of the dashboard in Chromium", () => {
  const world = sharedDashboard();

  it("show a new administrator's link only once", async () => {
    const opened = await world.signIn("Olga", { bizID: null });
    const { page, complaints } = opened;
    expect(await page.getByRole("navigation").innerText()).to.match(/^Overview\s+Partners\s+Audit log\s+People$/);
    await follow(page, "Partners");
    await click(page, "Create a partner");
    const name = `<script>document.title='owned'</script>`;
    await page.getByLabel("Name", { exact: true }).fill(name);
    await click(page, "Create");
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    expect(await page.title()).to.equal(`${name} · Partners · Keyroot dashboard`);
    await click(page, "Invite a person");
    await page.getByLabel("Name", { exact: true }).fill("First");
    await click(page, "Create the link");
    const link = await takeSecret(world, opened, "the link");
    const invited = await world.open(link);
    await click(invited.page, "Accept the invitation");
    await click(invited.page, "Add a passkey");
    await follow(invited.page, "Company");
    await invited.page.getByRole("heading", { name, level: 1 }).waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it("show the command that creates the first partner", async () => {
    const { page } = await world.signIn("Ode", { bizID: null });
    await page.route("**/v1/admin/partners/list", (route) => route.fulfill({ json: { partners: [], next: null } }));
    await follow(page, "Partners");
    await sees(page, "There is no partner yet");
    const { biz_id } = await runCommand(page, { ADMIN_TOKEN: world.service.adminToken });
    await page.unrouteAll();
    await page.goto(`${world.url}#/partners/${String(biz_id)}`);
    await page.getByRole("heading", { name: "Acme", level: 1 }).waitFor();
  });

  it("let a reader search for a partner", async () => {
    await world.createPartner("Found company");
    const { page } = await world.signIn("Otto", { bizID: null, role: "reader" });
    await follow(page, "Partners");
    await page.getByLabel("Search").fill("found");
    await click(page, "Search");
    await sees(page, "Partners with “found”");
    // The page shows the earlier rows until the search has loaded.
    await eventually(async () => {
      expect(await rows(page).allTextContents()).to.have.length(1);
    });
    await rows(page, "Found company").waitFor();
    await page.getByLabel("Search").fill("none of them");
    await click(page, "Search");
    await sees(page, "No partner was found.");
    await page.goBack();
    await rows(page, "Found company").waitFor();
    expect(await page.getByLabel("Search").inputValue()).to.equal("found");
    await page.keyboard.press("Control+k");
    await page.getByLabel("Name or id").fill("found");
    await page.getByRole("dialog").getByText("partner", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Found company" }).waitFor();
    expect(await page.getByRole("button", { name: /Create/ }).count()).to.equal(0);
    await page.goto(`${world.url}#/partners/${world.bizID}`);
    await sees(page, "There is no server token yet. The partner’s administrators");
    expect(await page.getByRole("button", { name: /Suspend|Limit|Invite|Revoke/ }).count()).to.equal(0);
  });

  it("suspend, resume and limit a partner", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Managed", 3);
    const { page, complaints } = await world.signIn("Omar", { bizID: null });
    const badge = page.locator(".badge", { hasText: "suspended" });
    await page.goto(`${world.url}#/partners/${bizID}`);
    await page.locator(".facts").getByText(String(users.length), { exact: true }).waitFor();
    await click(page, "Suspend");
    await sees(page, "are rejected immediately");
    await clickInDialog(page, "Suspend");
    await badge.waitFor();
    await click(page, "Resume");
    await clickInDialog(page, "Resume");
    await badge.waitFor({ state: "detached" });
    await click(page, "Limit users");
    await page.getByLabel("User limit").fill("5");
    await click(page, "Save");
    await sees(page, "3 of at most 5");
    await page.getByRole("button", { name: /^Revoke: Without a name \([0-9a-f]{8}\)$/ }).click();
    await clickInDialog(page, "Revoke");
    await page.locator(".badge", { hasText: "revoked" }).waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it("show the state of databases, chain and stores", async () => {
    const { page, complaints } = await world.signIn("Oda", { bizID: null });
    await follow(page, "Overview");
    await sees(page, "home, us-west-2, eu-west-1");
    await sees(page, "Chain 11155111");
    await sees(page, "1.23457 ETH");
    await sees(page, "FILE_UNREADABLE");
    expect(await page.content()).to.not.contain("hunter2");
    await sees(page, "12 keys would be published now");
    await click(page, "Publish now");
    await sees(page.getByRole("dialog"), "It needs about 280,968 gas at 1.5 gwei: about 0.000421452 ETH.");
    await sees(page.getByRole("dialog"), "1.23457 ETH is enough for about 2,929 such publications.");
    await clickInDialog(page, "Publish");
    await sees(page, "Published: 1 batch.");
    await sees(page, "7e".repeat(32));
    await page.route("**/v1/dashboard/status/get", (route) => route.abort());
    await click(page, "Check again");
    await sees(page, "The service did not respond");
    await page.unrouteAll();
    await click(page, "Try again");
    await sees(page, "home, us-west-2, eu-west-1");
    expect(complaints).to.deep.equal([]);
  });

  it('explain why the "Publish now" button is disabled', async () => {
    world.publishable = 0;
    try {
      const { page } = await world.signIn("Otto", { bizID: null });
      await follow(page, "Overview");
      const publish = button(page, "Publish now");
      await publish.waitFor();
      expect(await publish.isDisabled()).to.equal(true);
      const reason = page.locator(`#${(await publish.getAttribute("aria-describedby")) ?? ""}`);
      expect(await reason.innerText()).to.match(/^There is nothing to publish: no key waits for the next batch/);
    } finally {
      world.publishable = 12;
    }
  });

  it("show roots that the last checks did not confirm", async () => {
    world.differences = [
      { region: "us-west-2", root: "5d".repeat(32), code: "NOT_PUBLISHED" },
      { region: "eu-west-1", root: "c4".repeat(32), code: "ROOT_MISMATCH" },
    ];
    try {
      const { page, complaints } = await world.signIn("Orla", { bizID: null });
      const toDo = page.locator(".todo", { hasText: "The last check did not confirm 2 published roots." });
      await toDo.waitFor();
      await sees(page, "keyroot_publishing_differences");
      const listed = page.getByRole("region", { name: /^Differences/ }).getByRole("listitem");
      const texts = await listed.allInnerTexts();
      expect(texts).to.have.length(2);
      for (const [i, { root, code }] of world.differences.entries())
        expect(texts[i]).to.contain(root.slice(0, 8)).and.contain(code);
      expect(complaints).to.deep.equal([]);
    } finally {
      world.differences = [];
    }
  });

  it("ask for ether while the balance is below the threshold of the alert", async () => {
    const alerts = await readFile(new URL("../../packages/service/monitoring/alerts.yml", import.meta.url), "utf8");
    const gas = Number(/keyroot_gas_price_ether\S* < (\S+)/.exec(alerts)?.[1]);
    const state = { ...REPORT.chain.state, block: 1, owner: `0x${"f39F".repeat(10)}`, fee: "1500000000" };
    const report = (balance: bigint) => ({
      ...REPORT,
      chain: { ...REPORT.chain, state: { ...state, balance: String(balance) } },
    });
    try {
      await writeReport(world.service.databases.home, report(BigInt(gas) * 1_500_000_000n - 1n));
      const { page } = await world.signIn("Ona", { bizID: null });
      await sees(
        page,
        "The owner’s balance is enough for 239,999,999 gas, less than 240,000,000. Send ether to the owner.",
      );
      await writeReport(world.service.databases.home, report(BigInt(gas) * 1_500_000_000n));
      await click(page, "Check again");
      await page.getByText("Send ether to the owner.").waitFor({ state: "detached" });
    } finally {
      await writeReport(world.service.databases.home, REPORT);
    }
  });

  it("invite a person to the operator's staff", async () => {
    const opened = await world.signIn("Opal", { bizID: null });
    const { page } = opened;
    await follow(page, "People");
    await rows(page, "Opal you").waitFor();
    await click(page, "Invite a person");
    await page.getByLabel("Name", { exact: true }).fill("Colleague");
    await click(page, "Create the link");
    const invited = await world.open(await takeSecret(world, opened, "the link"));
    await click(invited.page, "Accept the invitation");
    await sees(invited.page, "the operator’s pages");
  });
});
