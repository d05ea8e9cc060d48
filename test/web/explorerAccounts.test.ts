import { expect } from "chai";
import { makeSafetyCode } from "../../packages/keyroot/src/identity/safetyCode.ts";
import { makeBundle } from "../../packages/keyroot/src/verifier/makeBundle.ts";
import { accounts } from "keyroot/account";
import { oneEndpoint } from "keyroot";
import { PAPER, PHONE } from "../support/account/accountRegistry.ts";
import { plainAccount } from "../support/account/plainAccount.ts";
import { click, sees } from "../support/browser/controls.ts";
import { done } from "../support/browser/explorerStates.ts";
import { sharedExplorer } from "../support/browser/sharedExplorer.ts";
import { describeIfNamed } from "../support/named.ts";

describeIfNamed(import.meta.filename)("explorer of a registry with accounts", () => {
  const explorer = sharedExplorer();
  const { world } = explorer;
  let url: string;

  before(async () => {
    url = await world.serve({ ...world.lightClientConfig(), ...world.accountsConfig() });
  });

  const openUser = async () => {
    const opened = await world.open(`${url}#/verify/${world.accountUser.userID}`);
    await done(opened.page);
    return opened;
  };

  it("verifies the newest key that the account authorized", async () => {
    const { page, complaints } = await openUser();
    expect(await page.innerText("[data-verdict]"))
      .to.contain("This is the user’s published key")
      .and.contain("This is key 1 of the user’s account, and no newer one is published.")
      .and.contain("Ethereum’s sync committee");
    expect(await page.innerText(".key-card")).to.contain(world.accountUser.publicKey);
    expect(complaints).to.deep.equal([]);
  });

  it("shows who authorized each key of the account, and when it was published", async () => {
    const { page } = await openUser();
    const items = page.locator(".timeline li");
    await items.locator("time").nth(2).waitFor();
    const texts = await items.allInnerTexts();
    expect(texts).to.have.lengthOf(4);
    const [next, voided, current, replaced] = texts;
    expect(next).to.contain("Slot 3 is empty, so there is no newer key.");
    expect(voided)
      .to.match(/Slot 2, void: it holds a key that the owner did not authorize, in block \d+/)
      .and.contain("Recovery keys 1 (P-256) and 2 (Ed25519) signed.");
    expect(current)
      .to.match(/Key 1, the current one, in block \d+/)
      .and.contain("Recovery keys 1 (P-256) and 2 (Ed25519) signed. Key id");
    expect(replaced).to.match(/Key 0, replaced, in block \d+/);
    const links = await items.locator("a[href*=batch]").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
    expect(links.map((link) => link?.split("/").at(-1))).to.deep.equal(world.accountUser.slotIDs.toReversed());
  });

  it("rejects an account whose next slot holds an unauthorized key", async () => {
    const { page } = await world.open(`${url}#/verify/${world.overtakenID}`);
    expect(await page.locator("[data-verdict=bad]").innerText())
      .to.contain("Do not use this key")
      .and.contain("SUCCESSOR_UNPROVEN");
  });

  it("names a user without an account file and without a key", async () => {
    const { page } = await world.open(`${url}#/verify/${"y".repeat(32)}`);
    await done(page);
    expect(await page.innerText("[data-verdict]")).to.contain("NOT_PUBLISHED");
  });

  it("compares a safety code over both accounts", async () => {
    const { page } = await openUser();
    const { userID, contract, file } = world.accountUser;
    const own = plainAccount([PHONE, PAPER], 1, { contract });
    const { digits } = makeSafetyCode({ userID, account: file }, { userID: own.userID, account: own.text });
    const form = page.locator(".more", { hasText: "Compare the safety code" });
    await form.locator("summary").click();
    await form.getByLabel("Your own user id").fill(own.userID);
    await form.getByLabel("Your own account").fill("hello");
    await sees(form, "An account begins with keyroot/account-v1.");
    await form.getByLabel("Your own account").fill(own.text);
    await form.getByLabel("What the other app shows").fill(digits);
    await sees(page.locator("[data-verdict=good]"), "Same key");
  });

  it("repeats the verification in a command, and verifies a bundle", async () => {
    const { page } = await openUser();
    await page.getByText("Verify without this page").click();
    expect(await page.innerText(".command")).to.contain("--accounts");
    const { rpcUrl: rpc, chainId, merkleUrl } = world.stack;
    const { userID, contract, slotIDs } = world.accountUser;
    const place = { rpc, chainId, contract, merkleUrl, trust: oneEndpoint(), accounts: accounts() };
    const { bundle, verified } = await makeBundle(userID, place);
    expect(verified.record.userID).to.equal(slotIDs[1]);
    await page.goto(`${url}#/bundle`);
    const buffer = Buffer.from(JSON.stringify(bundle));
    await page.locator("input[type=file]").setInputFiles({ name: "b.json", mimeType: "application/json", buffer });
    await page.getByLabel("Hash of the block").fill(verified.evidence.block?.hash ?? "");
    await click(page, "Verify bundle");
    await sees(page.locator("[data-verdict=good]"), "This is key 1 of the user’s account");
    await page.locator(".timeline time").nth(2).waitFor();
  });
});
