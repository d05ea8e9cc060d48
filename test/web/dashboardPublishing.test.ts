import { expect } from "chai";
import { generateKeyPair } from "../../packages/keyroot/src/identity/newPublicKey.ts";
import { runCommand } from "../support/browser/runCommand.ts";
import { sharedWorld } from "../support/browser/dashboardWorld.ts";
import { describeIfNamed } from "../support/named.ts";

describeIfNamed(import.meta.filename)("the dashboard's publishing page in Chromium", function () {
  this.timeout(30_000);
  const world = sharedWorld;

  before(async function () {
    this.timeout(120_000);
    await world.start();
  });

  it("begins with what leads to the first published key, and loads no chart", async () => {
    const { bizID, refreshToken } = await world.service.createPartner("Beginner");
    await using opened = await world.signIn("Bea", { bizID, role: "reader" });
    const { page, requests } = opened;
    await page.getByRole("link", { name: "Publishing" }).click();
    await page.getByText("No key of your users is published yet").waitFor();
    await page.getByText("None. Every registered key is in a batch.").waitFor();
    await page.getByText("There is none yet.").waitFor();
    expect(requests.filter((url) => url.includes("drawChart"))).to.deep.equal([]);
    const answer = await runCommand(page, { TOKEN: refreshToken });
    const [created] = answer["users"] as { status: number; user_id: string; token: string }[];
    expect(created).to.include({ status: 201 });
    await world.service.exchange(bizID, created?.token ?? "");
  });

  it("shows pending keys, own parts of batches, and users and cost over time, drawn and as a table", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Publisher", 4);
    const other = await world.createPartnerWithUsers("Other partner", 1);
    for (const user of [...users, ...other.users]) await world.service.registerKey(user, generateKeyPair());
    const ids = users.map(({ userID }) => userID);
    const [root, shared] = ["1a".repeat(32), "2b".repeat(32)];
    await world.publish(root, ids.slice(0, 1), { daysAgo: 2 });
    await world.publish(shared, [...ids.slice(1, 3), ...other.users.map(({ userID }) => userID)]);

    await using opened = await world.signIn("Pia", { bizID });
    const { page, requests, complaints } = opened;
    await page.getByRole("link", { name: "Publishing" }).click();
    await page.getByText("3 users with a published key. Your share of the cost: 0.00033 ETH.").waitFor();
    await page.locator(".chart-drawing canvas").waitFor();
    expect(await page.getByRole("img").getAttribute("aria-label")).to.contain("3 users in total, 0.00033 ETH in total");
    expect(requests.filter((url) => url.includes("drawChart"))).to.have.length(1);
    await page.getByText("The same as a table").click();
    const cells = await page.locator("tbody tr").last().locator("td").allInnerTexts();
    expect(cells.slice(1)).to.deep.equal(["2", "0.00022 ETH", "3", "0.00033 ETH"]);

    const row = page.locator(".row", { hasText: shared });
    expect(await row.innerText())
      .to.contain("2 users")
      .and.contain("published")
      .and.contain("110,000 gas")
      .and.contain("0.00022 ETH");
    const link = row.getByRole("link", { name: "Open in the explorer" });
    expect(await link.getAttribute("href")).to.equal(`https://explorer.test/#/batch/${shared}`);
    await page.getByText("1 key for the next batch").waitFor();
    await page.getByRole("link", { name: ids[3] ?? "" }).waitFor();
    expect(await page.innerText("main")).to.not.contain(other.users[0]?.userID);
    expect(complaints).to.deep.equal([]);
  });

  it("shows the table without the chart if the chart does not load, or is not the pinned code", async () => {
    const { bizID, users } = await world.createPartnerWithUsers("Without a chart", 1);
    await world.service.registerKey(users[0] ?? { jwt: "" }, generateKeyPair());
    await world.publish("3c".repeat(32), [users[0]?.userID ?? ""]);
    await using opened = await world.signIn("Sam", { bizID });
    const { page } = opened;
    await page.route("**/drawChart-*.js", (route) =>
      route.fulfill({ contentType: "text/javascript", body: "document.title = 'owned'; export const drawChart = 1;" }),
    );
    await page.getByRole("link", { name: "Publishing" }).click();
    await page.getByText("The chart did not load").waitFor();
    expect(await page.title()).to.equal("Publishing · Keyroot dashboard");
    await page.getByText("The same as a table").click();
    expect(await page.locator("tbody tr").count()).to.equal(1);
  });

  it("offers a retry for each part that did not load", async () => {
    const bizID = await world.createPartner("Failing");
    await using opened = await world.signIn("Fay", { bizID });
    const { page } = opened;
    await page.route("**/api/publishing/**", (route) => route.abort());
    await page.getByRole("link", { name: "Publishing" }).click();
    await page.getByText("The service did not answer").nth(1).waitFor();
    await page.unrouteAll();
    const retries = page.getByRole("button", { name: "Try again" });
    for (let left = 2; left > 0; left--) {
      await retries.first().click();
      // A part that failed shows it until it is loaded.
      await retries.nth(left - 1).waitFor({ state: "detached" });
    }
    await page.getByText("No key of your users is published yet").waitFor();
    await page.getByText("There is none yet.").waitFor();
  });
});
