import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { generateKeyPair } from "../../packages/keyroot/src/identity/newPublicKey.ts";
import { click, follow, sees } from "../support/browser/controls.ts";
import { runCommand } from "../support/browser/runCommand.ts";
import { sharedDashboard } from "../support/browser/dashboardWorld.ts";
import { describeIfNamed } from "../support/named.ts";

describeIfNamed(import.meta.filename)("publishing page in Chromium", () => {
  const world = sharedDashboard();

  it("shows commands before the first published key", async () => {
    const { bizID, refreshToken } = await world.service.createPartner("Beginner");
    const { page, requests } = await world.signIn("Bea", { bizID, role: "reader" });
    await follow(page, "Publishing");
    await sees(page, "No key of your users is published yet");
    await page.locator('.number[href="#/users?state=ready"]', { hasText: "0" }).waitFor();
    await sees(page, "There is none yet.");
    expect(requests.filter((url) => url.includes("drawChart"))).to.deep.equal([]);
    const answer = await runCommand(page, { TOKEN: refreshToken });
    const [created] = answer["users"] as { status: number; token: string }[];
    expect(created).to.include({ status: 201 });
    await world.service.exchange(bizID, created?.token ?? "");
  });

  it("shows pending keys, batches and a chart", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Publisher", 5);
    const other = await world.createPartnerWithUsers("Other partner", 1);
    for (const user of [...users, ...other.users]) await world.service.registerKey(user, generateKeyPair());
    const ids = users.map(({ userID }) => userID);
    const [root, shared] = ["1f".repeat(32), "2f".repeat(32)];
    await world.publish(root, ids.slice(0, 1), { daysAgo: 2 });
    await world.publish("4f".repeat(32), ids.slice(3, 4), { daysAgo: 1 });
    await world.publish(shared, [...ids.slice(1, 3), ...other.users.map(({ userID }) => userID)]);

    const { page, requests, complaints } = await world.signIn("Pia", { bizID });
    await follow(page, "Publishing");
    await sees(page, "4 users with a published key. Your share of the cost: 0.00044 ETH.");
    await page.locator(".chart-drawing canvas").waitFor();
    expect(await page.getByRole("img").getAttribute("aria-label")).to.contain("4 users in total, 0.00044 ETH in total");
    expect(requests.filter((url) => url.includes("drawChart"))).to.have.length(1);
    await page.getByText("Show as a table").click();
    const cells = await page.locator(".chart tbody tr").last().locator("td").allInnerTexts();
    expect(cells.slice(1)).to.deep.equal(["2", "0.00022 ETH", "4", "0.00044 ETH"]);

    const row = page.locator("tr.row", { has: page.locator(`code[title="${shared}"]`) });
    expect(await row.innerText())
      .to.contain("2 users")
      .and.contain("published")
      .and.contain("0.00022 ETH");
    expect(await row.locator("td").last().getAttribute("title")).to.contain("110,000 gas");
    const addresses = await row
      .getByRole("link")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    expect(addresses).to.deep.equal([
      `https://explorer.test/#/batch/${shared}`,
      `https://chain.test/tx/0x${"a".repeat(64)}`,
    ]);
    const [file] = await Promise.all([page.waitForEvent("download"), click(page, "Export CSV")]);
    const lines = (await readFile(await file.path(), "utf8")).trimEnd().split("\r\n");
    expect(lines).to.have.length(4);
    expect(lines.join("\n")).to.contain(`"${shared}","published","2"`).and.contain('"110000","220000000000000"');
    await page.locator(".number", { hasText: "In the next batch" }).getByText("1", { exact: true }).click();
    await page.locator(`a[href="#/users/${ids[4] ?? ""}"]`).waitFor();
    expect(await page.innerText("main")).to.not.contain(other.users[0]?.userID);
    expect(complaints).to.deep.equal([]);
  });

  it("shows numbers instead of a chart for fewer than three days", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Young company", 1);
    await world.service.registerKey(users[0] ?? { jwt: "" }, generateKeyPair());
    await world.publish("6f".repeat(32), [users[0]?.userID ?? ""]);
    const { page, requests } = await world.signIn("Yara", { bizID });
    await follow(page, "Publishing");
    await page.getByRole("region", { name: "Users and cost by day" }).waitFor();
    expect(await page.locator(".chart-drawing").count()).to.equal(0);
    expect(requests.filter((url) => url.includes("drawChart"))).to.deep.equal([]);
  });

  it("shows a table if the hash of the chart's script is wrong", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Without a chart", 3);
    for (const user of users) await world.service.registerKey(user, generateKeyPair());
    for (const [daysAgo, { userID }] of users.entries())
      await world.publish(`${daysAgo + 1}c`.repeat(32), [userID], { daysAgo });
    const { page } = await world.signIn("Sam", { bizID });
    await page.route("**/drawChart-*.js", (route) =>
      route.fulfill({ contentType: "text/javascript", body: "document.title = 'owned'; export const drawChart = 1;" }),
    );
    await follow(page, "Publishing");
    await sees(page, "The chart did not load");
    expect(await page.title()).to.equal("Publishing · Keyroot dashboard");
    await page.getByText("Show as a table").click();
    expect(await page.locator(".chart tbody tr").count()).to.equal(3);
  });
});
