import { expect } from "chai";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { click, sees } from "../support/browser/controls.ts";
import { done, dropFile } from "../support/browser/explorerStates.ts";
import { sharedExplorer } from "../support/browser/sharedExplorer.ts";
import { describeIfNamed } from "../support/named.ts";

describeIfNamed(import.meta.filename)("contact lists in the explorer", () => {
  const explorer = sharedExplorer();
  const { world } = explorer;

  const choose = (page: Page, content: string, name = "contacts.csv") => {
    const file = { name, mimeType: "text/plain", buffer: Buffer.from(content) };
    return page.locator("input[type=file]").setInputFiles(file);
  };
  const verdicts = (page: Page) =>
    page.$$eval("[data-contact]", (rows) => rows.map((row) => row.getAttribute("data-contact")));

  it("show one verdict for each row of a CSV file, and save the verdicts", async () => {
    const { page, requests, complaints } = await world.open(`${explorer.url}#/list`);
    const [one, two, three, four] = world.records;
    const hex = Buffer.from(three?.pubKey ?? "", "base64").toString("hex");
    await choose(
      page,
      [
        "name;userID;publicKey;keyID",
        `Ann;${one?.userID};${one?.pubKey};`,
        `Bea;${two?.userID};;${two?.keyID}`,
        `Cem;${three?.userID};0x${hex};`,
        `Dan;${four?.userID};;`,
        `Eve;${one?.userID};${two?.pubKey};`,
        `Fay;${two?.userID};;${one?.keyID}`,
        `Gil;${"y".repeat(32)};;`,
        `Hal;hello;;`,
        `Ida;${two?.userID};short;`,
      ].join("\r\n"),
    );
    await done(page);
    expect(await page.innerText("[data-verdict=bad]"))
      .to.contain("Do not use 2 keys of 9")
      .and.contain("3 the same, 2 different, 1 published without a key to compare, 1 not published, 2 not readable.")
      .and.contain("Evidence: one server (1 of 3)");
    const expected = [
      "same",
      "same",
      "same",
      "published",
      "different",
      "different",
      "absent",
      "unreadable",
      "unreadable",
    ];
    expect(await verdicts(page)).to.deep.equal(expected);
    expect(await page.locator("[data-contact] a").first().getAttribute("href")).to.equal(
      `#/verify/${one?.userID}/one-endpoint`,
    );
    const sent = requests.join("\n");
    expect(sent).to.not.contain(encodeURIComponent(one?.keyID ?? ""));

    const saving = page.waitForEvent("download");
    await click(page, "Download the verdicts");
    const saved = await readFile(await (await saving).path(), "utf8");
    const lines = saved.split("\r\n");
    expect(lines[0]).to.equal('"userID","verdict","code","keyID","number","evidence","block","blockTime"');
    expect(lines[1]).to.match(
      new RegExp(`^"${one?.userID}","same","","${one?.keyID.replaceAll("+", "\\+")}","","one-endpoint"`),
    );
    expect(lines[5]).to.match(new RegExp(`^"${one?.userID}","different","KEY_MISMATCH"`));
    expect(lines).to.have.lengthOf(11);
    expect(complaints).to.deep.equal([]);
  });

  it("are green only if every key is proven", async () => {
    const url = await world.serve({ ...world.lightClientConfig(), rpc: [world.stack.rpcUrl] });
    const { page } = await world.open(`${url}#/list`);
    const contacts = world.records.map(({ userID, pubKey }) => ({ userID, publicKey: pubKey }));
    await choose(page, JSON.stringify(contacts), "contacts.json");
    await done(page);
    expect(await page.innerText("[data-verdict=good]")).to.contain("All 13 keys are the same");
    await page.getByText("Evidence: Ethereum’s light client").first().click();
    await page.getByLabel("Source of the block").selectOption("One endpoint");
    await click(page, "Verify with this evidence");
    await sees(page.locator("[data-verdict=weak]"), "All 13 keys are the same, according to one server");
  });

  it("verify users of a registry with accounts", async () => {
    const { page } = await world.open(`${await world.serve(world.accountsConfig())}#/list`);
    const { userID, publicKey, file } = world.accountUser;
    await choose(
      page,
      JSON.stringify([{ userID, publicKey, account: file }, { userID }, { userID: world.overtakenID }]),
      "contacts.json",
    );
    await done(page);
    expect(await verdicts(page)).to.deep.equal(["same", "published", "rejected"]);
    await sees(page.locator("[data-contact=rejected]"), "SUCCESSOR_UNPROVEN");
  });

  it("open when they are dropped on any page", async () => {
    const { page } = await world.open(explorer.url);
    await dropFile(page, JSON.stringify([{ userID: world.victim.userID }]));
    await done(page);
    expect(page.url()).to.equal(`${explorer.url}#/list`);
    expect(await verdicts(page)).to.deep.equal(["published"]);
  });

  for (const [what, content, message] of [
    ["without the column userID", "id,publicKey\na,b", /must name the columns/],
    ["with an open quote", 'userID,publicKey\n"abc', /is not valid CSV/],
    ["of broken JSON", "[{", /not valid JSON/],
    ["without contacts", "userID\n", /has no contacts/],
    ["with too many contacts", `userID\n${"a\n".repeat(1001)}`, /at most 1000 contacts/],
    ["that is too large", "x".repeat(4_000_001), /at most 4\.0 MB/],
  ] as const) {
    it(`name the problem of a file ${what}`, async () => {
      const { page } = await world.open(`${explorer.url}#/list`);
      await choose(page, content);
      const alert = page.locator(".field [role=alert]", { hasText: message });
      await alert.waitFor();
      expect(await page.locator("[data-verdict]").count()).to.equal(0);
    });
  }
});
