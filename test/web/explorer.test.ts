import { expect } from "chai";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { verifyBundle } from "../../packages/keyroot/src/verifier/bundle.ts";
import { verifyProof } from "../../packages/keyroot/src/merkle/proof.ts";
import { makeSafetyCode } from "../../packages/keyroot/src/identity/safetyCode.ts";
import { userIDToHex } from "../../packages/keyroot/src/identity/userID.ts";
import { sampleUserID } from "../../fixtures/samples.ts";
import { faultyProxy } from "../support/faultyProxy.ts";
import { eventually } from "../support/browser/eventually.ts";
import { sharedExplorer } from "../support/browser/explorerWorld.ts";
import { describeIfNamed } from "../support/named.ts";
import { rpc } from "../support/support.ts";

/** The node that each attack of the demo makes red. */
const FAILING: Readonly<Record<string, string[]>> = {
  "swapped-key": ["given"],
  "swapped-record": ["level-0", "level-4"],
  "rebuilt-file": ["level-4"],
  "redirected-lookup": ["record"],
  "duplicated-leaf": ["level-0"],
  "cut-file": ["file"],
  redirect: ["file"],
  "wrong-root": ["record"],
  "hidden-root": ["contract"],
  "other-chain": ["endpoint"],
};

describeIfNamed(import.meta.filename)("the explorer in Chromium", function () {
  this.timeout(30_000);
  const explorer = sharedExplorer();
  const { world } = explorer;

  const verdict = (page: Page) => page.locator("[data-verdict]:not([data-verdict=busy])").innerText();
  const redNodes = (page: Page) =>
    page.$$eval("[data-node][data-state=bad]", (nodes) => nodes.map((node) => node.getAttribute("data-node")));
  const steps = (page: Page) =>
    page.$$eval("[data-step]", (items) => items.map((item) => item.getAttribute("data-state")));

  describe("a user id", () => {
    it("is verified from a link, step by step, and the path leads from the key to the contract's root", async () => {
      await using opened = await world.open(`${explorer.url}#/verify/${world.victim.userID}`);
      const { page } = opened;
      expect(await verdict(page))
        .to.contain("This is the user’s published key")
        .and.contain("the word of one endpoint");
      expect(await steps(page)).to.deep.equal(Array(6).fill("passed"));
      expect(await redNodes(page)).to.deep.equal([]);
      expect(await page.getAttribute("[data-comparison]", "data-comparison")).to.equal("equal");
      expect(await page.innerText(".facts"))
        .to.contain(world.victim.pubKey)
        .and.contain(world.root);
      await page.getByText("The drawing as text").click();
      const text = await page.innerText(".path-text");
      expect(text.match(/[0-9a-f]{64}/g))
        .to.include(world.root)
        .and.have.lengthOf(10);
    });

    for (const [form, write] of [
      ["32 characters", (userID: string) => ` ${userID.toUpperCase()} `],
      ["40 hex digits", (userID: string) => `0x${userIDToHex(userID)}`],
    ] as const) {
      it(`is accepted as ${form}`, async () => {
        await using opened = await world.open(explorer.url);
        const { page } = opened;
        await page.getByLabel("User id").fill(write(world.victim.userID));
        await page.keyboard.press("Enter");
        expect(await verdict(page)).to.contain("This is the user’s published key");
        expect(page.url()).to.equal(`${explorer.url}#/verify/${world.victim.userID}`);
      });
    }

    for (const [text, message] of [
      ["", "Enter a user id."],
      ["abc", "A user id in hex has 40 digits, but this has 3."],
      ["hello", "A user id has 32 characters, but this has 5."],
      ["l".repeat(32), "A user id cannot contain “l”."],
    ] as const) {
      it(`that is invalid, such as "${text}", gets a message beside the field and stays there`, async () => {
        await using opened = await world.open(explorer.url);
        const { page } = opened;
        const field = page.getByLabel("User id");
        await field.fill(text);
        await page.getByRole("button", { name: "Verify" }).click();
        await page.getByRole("alert").getByText(message, { exact: true }).waitFor();
        expect(await field.inputValue()).to.equal(text);
        expect(await field.getAttribute("aria-invalid")).to.equal("true");
      });
    }

    it("without a published key is reported as such, with what that is worth", async () => {
      await using opened = await world.open(`${explorer.url}#/verify/${sampleUserID(99)}`);
      const { page } = opened;
      expect(await verdict(page))
        .to.contain("No key is published for this user")
        .and.contain("NOT_PUBLISHED");
      expect(await redNodes(page)).to.deep.equal(["contract"]);
    });
  });

  describe("Try the attack", () => {
    it("lists every attack of the demo", async () => {
      await using opened = await world.open(`${explorer.url}#/attacks`);
      await opened.page.locator(".cards code").first().waitFor();
      const codes = await opened.page.$$eval(".cards code", (codes) => codes.map((code) => code.textContent));
      expect(codes).to.deep.equal(world.attacks.map(({ expectedCode }) => expectedCode));
    });

    for (const [name, nodes] of Object.entries(FAILING)) {
      it(`${name} is rejected, and ${nodes.join(" and ")} is red`, async () => {
        await using opened = await world.open(`${explorer.url}#/attack/${name}`);
        const { page, complaints } = opened;
        const { expectedCode = "" } = world.attacks.find((attack) => attack.name === name) ?? {};
        expect(await verdict(page))
          .to.contain(expectedCode)
          .and.not.contain("published key\n");
        expect((await redNodes(page)).sort()).to.deep.equal(nodes);
        expect(await steps(page)).to.include("failed");
        expect(complaints).to.deep.equal([]);
      });
    }
  });

  describe("a pasted key", () => {
    it("is compared in the page, and no link or request contains it", async () => {
      await using opened = await world.open(`${explorer.url}#/verify/${world.victim.userID}`);
      const { page, requests } = opened;
      const field = page.getByLabel("Compare with a key that you have");
      const [other] = world.records;
      for (const [pasted, result] of [
        [world.victim.pubKey, "The pasted key is the published one."],
        [world.victim.keyID, "The pasted key id is the published one."],
        [Buffer.from(world.victim.pubKey, "base64").toString("hex"), "The pasted key is the published one."],
        [other?.pubKey ?? "", "The pasted key is not the published one."],
      ] as const) {
        await field.fill(pasted);
        await page.locator(".comparison-result", { hasText: result }).waitFor();
      }
      await page.locator("[data-verdict]").getByText("KEY_MISMATCH").waitFor();
      expect(await redNodes(page)).to.deep.equal(["given"]);
      await field.fill("not a key");
      await page.getByText(/A key has 140 characters.* This has 7\./).waitFor();
      const links = await page.$$eval("a", (links) => links.map(({ href }) => href));
      for (const address of [...links, ...requests, page.url()]) {
        expect(address).to.not.contain(encodeURIComponent(other?.pubKey ?? "").slice(0, 40));
      }
    });
  });

  describe("the safety code", () => {
    it("of visitor and verified user is computed in the page, and compared with digits and QR codes", async () => {
      await using opened = await world.open(`${explorer.url}#/verify/${world.victim.userID}`);
      const { page, requests, complaints } = opened;
      const [own, other] = world.records.filter(({ userID }) => userID !== world.victim.userID);
      if (own === undefined || other === undefined) throw new Error("There are too few users.");
      const [mine, contact, stranger] = [own, world.victim, other].map(({ userID, pubKey }) => ({
        userID,
        publicKey: pubKey,
      }));
      if (mine === undefined || contact === undefined || stranger === undefined)
        throw new Error("There are too few users.");
      // What the contact's app shows, and what it shows if it uses another key for the visitor.
      const right = makeSafetyCode(contact, mine);
      const wrong = makeSafetyCode(contact, { ...mine, publicKey: stranger.publicKey });
      const card = page.locator("section", { has: page.getByRole("heading", { name: "Safety code with this user" }) });
      const shown = card.getByLabel("What the other app shows");
      await card.getByLabel("Your own user id").fill(mine.userID);
      await card.getByLabel("Your own public key").fill("short");
      await card.getByText("A key has 140 characters").waitFor();
      await card.getByLabel("Your own public key").fill(Buffer.from(own.pubKey, "base64").toString("hex"));
      await card.getByText(right.digits.replace(/\d{5}(?=\d)/g, "$& ")).waitFor();
      const before = requests.length;
      for (const text of [right.digits.replace(/\d{5}/g, "$& "), right.payload]) {
        await shown.fill(text);
        await card.getByText("The safety codes are equal").waitFor();
      }
      for (const [text, code] of [
        [wrong.digits, "SAFETY_CODE_MISMATCH"],
        [wrong.payload, "SAFETY_CODE_MISMATCH"],
        [makeSafetyCode(stranger, mine).payload, "USER_MISMATCH"],
        ["123", "SAFETY_CODE_INVALID"],
      ] as const) {
        await shown.fill(text);
        await card.getByText(code).waitFor();
        expect(await card.innerText()).not.to.contain("are equal");
      }
      expect(requests.length).to.equal(before);
      expect(page.url()).to.equal(`${explorer.url}#/verify/${world.victim.userID}`);
      expect(complaints).to.deep.equal([]);
    });
  });

  describe("the evidence", () => {
    it("can be a block that the visitor trusts, with a storage proof", async () => {
      const { hash } = (await rpc(world.stack.rpcUrl, "eth_getBlockByNumber", ["latest", false])) as { hash: string };
      await using opened = await world.open(`${explorer.url}#/verify/${world.victim.userID}`);
      const { page } = opened;
      await page.getByLabel("A block that I trust").check();
      await page.getByLabel("Require a storage proof").check();
      const submit = page.getByRole("button", { name: "Verify with this evidence" });
      await page.getByLabel("Block hash").fill("0x12");
      await submit.click();
      await page.getByText("A block hash is 0x and 64 hex digits.").waitFor();
      await page.getByLabel("Block hash").fill(hash);
      await submit.click();
      await page.getByText("a proof under the block hash that you entered").waitFor();
      expect(await page.innerText(".command"))
        .to.contain(`--block-hash ${hash}`)
        .and.contain("--proof");
      await page.getByLabel("Block hash").fill(`0x${"12".repeat(32)}`);
      await submit.click();
      await page.getByText("Not verified").waitFor();
    });

    it("can be a quorum, which outvotes a lying endpoint", async () => {
      const { rpcUrl } = world.stack;
      const liar = world.attacks.find(({ name }) => name === "hidden-root")?.rpc ?? "";
      await using opening = new AsyncDisposableStack();
      const second = opening.adopt(await faultyProxy(rpcUrl), (proxy) => proxy.close());
      const endpoints = [liar, rpcUrl, second.url];
      await using opened = await world.open(`${await world.serve({ rpc: endpoints })}#/verify/${world.victim.userID}`);
      const { page } = opened;
      expect(await verdict(page)).to.contain("NOT_PUBLISHED");
      await page.getByLabel("Several endpoints").check();
      await page.getByRole("button", { name: "Verify with this evidence" }).click();
      await page.getByText("2 endpoints agree on the block and on the root").waitFor();
    });

    it("can come from an endpoint that the visitor adds, and then the page connects to no other host", async () => {
      const { rpcUrl } = world.stack;
      const visitors = rpcUrl.replace("127.0.0.1", "localhost");
      const explorer = await world.serve({ visitorEndpoints: true, rpc: [world.attacks.at(-1)?.rpc ?? ""] });
      await using opened = await world.open(`${explorer}#/verify/${world.victim.userID}`);
      const { page, complaints } = opened;
      expect(await verdict(page)).to.contain("CHAIN_ID_MISMATCH");
      const blocked = await page.evaluate((url) => fetch(url).then(String, String), visitors);
      expect(blocked).to.contain("TypeError");
      await eventually(() => {
        expect(complaints).to.have.lengthOf.above(0);
      });
      const field = page.getByLabel("Add an endpoint of your own");
      await field.fill("ftp://example.com");
      await page.getByRole("button", { name: "Add endpoint" }).click();
      await page.getByText("Enter the URL of an endpoint").waitFor();
      await field.fill(visitors);
      await page.getByRole("button", { name: "Add endpoint" }).click();
      await page.waitForFunction(() => document.querySelectorAll("select option").length === 2);
      await page.locator("select").selectOption(visitors);
      await page.getByRole("button", { name: "Verify with this evidence" }).click();
      await page.getByText("This is the user’s published key").waitFor();
      expect(page.url()).to.not.contain("localhost:" + new URL(visitors).port);
    });
  });

  describe("downloads", () => {
    const download = async (page: Page, name: string): Promise<unknown> => {
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
      return JSON.parse(await readFile(await file.path(), "utf8"));
    };

    it("are a proof and a bundle that the library accepts", async () => {
      const { userID, pubKey } = world.victim;
      await using opened = await world.open(`${explorer.url}#/verify/${userID}`);
      const { page } = opened;
      await verdict(page);
      const proof = await download(page, "Download proof");
      expect(verifyProof(proof, { userID, root: world.root }).record.pubKey).to.equal(pubKey);
      const bundle = (await download(page, "Download bundle")) as { header: { number: string } };
      const block = (await rpc(world.stack.rpcUrl, "eth_getBlockByNumber", [bundle.header.number, false])) as {
        hash: string;
      };
      const { chainId, contract } = world.stack;
      const verified = await verifyBundle(bundle, { userID, chainId, contract }, { blockHash: block.hash });
      expect(verified.record.pubKey).to.equal(pubKey);
    });

    it("include a bundle that is verified offline, against the block's hash only", async () => {
      await using opened = await world.open(`${explorer.url}#/verify/${world.victim.userID}`);
      const { page } = opened;
      await verdict(page);
      const bundle = (await download(page, "Download bundle")) as { header: { number: string }; contract: string };
      const block = (await rpc(world.stack.rpcUrl, "eth_getBlockByNumber", [bundle.header.number, false])) as {
        hash: string;
      };
      await page.getByRole("link", { name: "Bundle" }).click();
      await page.getByRole("heading", { name: "Verify a bundle" }).waitFor();
      await page.context().setOffline(true);
      const choose = (content: unknown) =>
        page.getByLabel("Bundle", { exact: true }).setInputFiles({
          ...{ name: "alice.bundle.json", mimeType: "application/json" },
          buffer: Buffer.from(JSON.stringify(content)),
        });
      await choose(bundle);
      await page.getByText("alice.bundle.json says that it is about the user").waitFor();
      expect(await page.locator("[data-verdict]").count()).to.equal(0);
      const verify = async (hash: string) => {
        await page.getByLabel("Hash of the block").fill(hash);
        await page.getByRole("button", { name: "Verify bundle" }).click();
      };
      await verify("12");
      await page.getByText("A block hash is 0x and 64 hex digits.").waitFor();
      await verify(block.hash);
      await page.getByText("a proof under the block hash that you entered").waitFor();
      await verify(`0x${"12".repeat(32)}`);
      await page.getByText("HEADER_MISMATCH").first().waitFor();
      await choose({ ...bundle, contract: `0x${"12".repeat(20)}` });
      await page.getByText("alice.bundle.json says that it is about the user").waitFor();
      await verify(block.hash);
      await page.getByText("CONTRACT_MISMATCH").first().waitFor();
      await choose({ format: "something else" });
      await page.getByText("BUNDLE_SHAPE").first().waitFor();
    });
  });

  describe("the policy", () => {
    it("lets the page connect to the named servers only, without a single violation", async () => {
      await using opened = await world.open(`${explorer.url}#/verify/${world.victim.userID}`);
      const { page, complaints, requests } = opened;
      await verdict(page);
      expect(complaints).to.deep.equal([]);
      const { rpcUrl, merkleUrl } = world.stack;
      const origins = new Set(requests.map((address) => new URL(address).origin));
      expect(origins).to.deep.equal(new Set([new URL(explorer.url).origin, rpcUrl, merkleUrl]));
      for (const address of requests) expect(address).to.not.contain(world.victim.userID);
    });

    it("has no unsafe source, and allows one script, pinned by its hash", async () => {
      const policy = (await fetch(explorer.url)).headers.get("Content-Security-Policy") ?? "";
      expect(policy).to.match(/^default-src 'none'; script-src 'sha384-[A-Za-z0-9+/]+'; style-src 'self';/);
      expect(policy).to.contain("require-trusted-types-for 'script'").and.not.contain("unsafe");
    });
  });
});
