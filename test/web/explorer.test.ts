import { pinnedBlock } from "keyroot";
import { expect } from "chai";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { ANY_KEY } from "../../packages/keyroot/src/identity/compareKey.ts";
import { verifyBundle } from "../../packages/keyroot/src/verifier/bundle.ts";
import { verifyMerkleProof } from "../../packages/keyroot/src/merkle/proof.ts";
import { userIDToHex } from "../../packages/keyroot/src/identity/userID.ts";
import { ATTACKS } from "../../demo/attacks/attacks.ts";
import { sampleUserID } from "../support/samples.ts";
import { faultyProxy } from "../support/servers/faultyProxy.ts";
import { eventually } from "../support/browser/eventually.ts";
import { click, sees } from "../support/browser/controls.ts";
import { sharedExplorer } from "../support/browser/sharedExplorer.ts";
import { describeIfNamed } from "../support/named.ts";
import { rpc } from "../support/support.ts";

/** The nodes that attacks of the demo make red. */
const FAILING: Readonly<Record<string, string[]>> = {
  "swapped-record": ["level-0", "level-4"],
  "rebuilt-file": ["level-4"],
  "redirected-lookup": ["record"],
  "duplicated-leaf": ["level-0"],
  "cut-file": ["file"],
  redirect: ["file"],
  "wrong-root": ["record"],
  "other-chain": ["endpoint"],
};

/** The codes with which one endpoint is enough for a rejection, where they differ from those of the light client. */
const CODES_OF_ONE_ENDPOINT: Readonly<Record<string, string>> = { "wrong-root": "USER_NOT_IN_FILE" };

describeIfNamed(import.meta.filename)("explorer in Chromium", () => {
  const explorer = sharedExplorer();
  const { world } = explorer;

  const verdict = (page: Page) => page.locator("[data-verdict]:not([data-verdict=busy])").innerText();
  const redNodes = (page: Page) =>
    page.$$eval("[data-node][data-state=bad]", (nodes) => nodes.map((node) => node.getAttribute("data-node")));
  const steps = (page: Page) =>
    page.$$eval("[data-step]", (items) => items.map((item) => item.getAttribute("data-state")));

  describe("on the page of a user", () => {
    it("draws the path from the key to the contract's root", async () => {
      const { page } = await world.open(`${explorer.url}#/verify/${world.victim.userID}`);
      expect(await verdict(page))
        .to.contain("Published, according to one server")
        .and.contain("Evidence: one server (1 of 3)")
        .and.contain("one endpoint’s unproven answer");
      expect(await steps(page)).to.deep.equal(Array(6).fill("passed"));
      expect(await redNodes(page)).to.deep.equal([]);
      expect(await page.getAttribute("[data-comparison]", "data-comparison")).to.equal("equal");
      expect(await page.innerText(".key-card"))
        .to.contain(world.victim.pubKey)
        .and.contain("of a file with");
      expect(await page.locator(".key-card a").getAttribute("href")).to.contain(world.root);
      await page.getByText("The drawing as text").click();
      const text = await page.innerText(".path-text");
      expect(text.match(/[0-9a-f]{64}/g))
        .to.include(world.root)
        .and.have.lengthOf(10);
    });

    it("accepts 32 zBase32 characters or 40 hex digits", async () => {
      const { userID } = world.victim;
      for (const text of [` ${userID.toUpperCase()} `, `0x${userIDToHex(userID)}`]) {
        const { page } = await world.open(explorer.url);
        await page.getByLabel("User id or root").fill(text);
        await page.keyboard.press("Enter");
        expect(await verdict(page)).to.contain("Published, according to one server");
        expect(page.url()).to.equal(`${explorer.url}#/verify/${userID}`);
      }
    });

    it("reports NOT_PUBLISHED for a user without a published key", async () => {
      const { page } = await world.open(`${explorer.url}#/verify/${sampleUserID(99)}`);
      expect(await verdict(page))
        .to.contain("No key is published for this user")
        .and.contain("NOT_PUBLISHED")
        .and.contain("This rests on one endpoint’s unproven answer")
        .and.contain("A new key waits for its hold period");
      for (const step of ["file", "tree", "record", "key"]) {
        const box = await page.locator(`[data-step=${step}]`).boundingBox();
        expect(box?.height, step).to.be.below(60);
      }
      expect(await redNodes(page)).to.deep.equal([]);
      expect(await steps(page)).to.deep.equal(["passed", "passed", "unknown", "unknown", "unknown", "unknown"]);
    });

    it("rejects the contract's address", async () => {
      const { page } = await world.open(explorer.url);
      await page.getByLabel("User id or root").fill(world.stack.contract);
      await page.keyboard.press("Enter");
      await sees(page, "This is the address of the contract.");
    });

    it("compares the key that was entered on the start page after 1 click, without a link that contains it", async () => {
      const [other] = world.records;
      for (const [entered, title] of [
        [world.victim.keyID, "Same key, according to one server"],
        [other?.keyID ?? "", "Different key id"],
      ] as const) {
        const { page } = await world.open(explorer.url);
        await page.getByLabel("User id or root").fill(world.victim.userID);
        await page.getByLabel("Their key (optional)").fill(entered);
        await page.locator(".compare-form button[type=submit]").click();
        expect(await verdict(page)).to.contain(title);
        expect(page.url()).to.equal(`${explorer.url}#/verify/${world.victim.userID}`);
      }
    });
  });

  describe("on the start page", () => {
    it("shows the chain, the contract and recent batches", async () => {
      const { page, complaints } = await world.open(explorer.url);
      const card = page.locator(".registry-card");
      await sees(card, "the unproven answer of 1");
      const { chainId, contract } = world.stack;
      expect(await card.innerText())
        .to.contain(String(chainId))
        .and.contain("code not checked");
      expect(await card.locator("code").first().getAttribute("title")).to.equal(contract);
      const roots = page.locator(".recent-card tbody a");
      const addresses = await roots.evaluateAll((links) => links.map((link) => link.getAttribute("href")));
      expect(addresses).to.include(`#/batch/${world.root}`);
      expect(complaints).to.deep.equal([]);
    });

    it("reports contract code with a wrong hash", async () => {
      const codeHash = `0x${"12".repeat(32)}`;
      const { page } = await world.open(await world.serve({ codeHash }));
      await sees(page, "code has another hash");
    });

    it("reports an endpoint that returns a different answer", async () => {
      const { rpcUrl, merkleUrl } = world.stack;
      const { page } = await world.open(await world.serve({ rpc: [rpcUrl, merkleUrl] }));
      await sees(page, "Only 1 of 2");
    });

    it("opens the batch of a root", async () => {
      const { page } = await world.open(explorer.url);
      await page.getByLabel("User id or root").fill(world.root.toUpperCase());
      await page.keyboard.press("Enter");
      await page.locator("canvas").waitFor();
      expect(page.url()).to.equal(`${explorer.url}#/batch/${world.root}`);
    });
  });

  describe("on the page of attacks", () => {
    const rows = (page: Page) =>
      page.$$eval("[data-attack]", (rows) =>
        rows.map((row) => [row.getAttribute("data-attack"), row.querySelector(".attack-result")?.textContent]),
      );
    const statesOf = async (page: Page, state: string) =>
      page.$$eval(`[data-attack][data-state=${state}]`, (rows) => rows.map((row) => row.getAttribute("data-attack")));

    it("rejects every attack of the terminal with the same code, with the light client", async () => {
      const url = await world.serve({ ...world.lightClientConfig(), visitorEndpoints: true });
      const { page, complaints } = await world.open(`${url}#/attacks`);

      expect(await verdict(page)).to.contain(`${ATTACKS.length} attacks, no false key accepted`);
      expect(await rows(page)).to.deep.equal(ATTACKS.map(({ name, expectedCode }) => [name, expectedCode]));
      expect(await statesOf(page, "rejected")).to.have.lengthOf(ATTACKS.length);
      const groups = await page.locator("[scope=rowgroup]").allInnerTexts();
      expect(groups).to.deep.equal([...new Set(ATTACKS.map(({ attacker }) => attacker))]);
      for (const time of await page.locator(".attack-time").allInnerTexts()) expect(time).to.match(/^\d+ ms$/);
      expect(complaints).to.deep.equal([]);

      await page.getByLabel("One endpoint").check();
      expect(await verdict(page)).to.contain("2 attacks fooled your browser");
      const fooling = ATTACKS.filter(({ foolsOneEndpoint }) => foolsOneEndpoint);
      expect(await statesOf(page, "fooled")).to.deep.equal(fooling.map(({ name }) => name));
      const onBeacon = ATTACKS.filter(({ attacker }) => attacker === "The beacon endpoint");
      expect(await statesOf(page, "unaffected")).to.deep.equal(onBeacon.map(({ name }) => name));
      expect(await statesOf(page, "failed")).to.be.empty;
      await page.getByLabel("Ethereum’s light client").check();
      expect(await verdict(page)).to.contain("no false key accepted");
    });

    it("does not exist without attacks", async () => {
      const { page } = await world.open(`${await world.serve({ attacks: undefined })}#/attacks`);
      await sees(page, "There is no such page");
    });
  });

  describe("with an attacker's servers", () => {
    for (const [name, nodes] of Object.entries(FAILING)) {
      it(`rejects ${name} and marks ${nodes.join(" and ")} red`, async () => {
        const { page, complaints } = await world.open(
          `${await world.serve(world.attackedBy(name))}#/verify/${world.victim.userID}`,
        );
        expect(await verdict(page))
          .to.contain(CODES_OF_ONE_ENDPOINT[name] ?? ATTACKS.find((attack) => attack.name === name)?.expectedCode)
          .and.not.contain("published key\n");
        expect((await redNodes(page)).sort()).to.deep.equal(nodes);
        expect(await steps(page)).to.include("failed");
        expect(complaints).to.deep.equal([]);
      });
    }
  });

  describe("after a key was pasted", () => {
    it("keeps the key out of requests and links", async () => {
      const { page, requests } = await world.open(`${explorer.url}#/verify/${world.victim.userID}`);
      const field = page.getByLabel("Compare with the key or key id that you have");
      const [other] = world.records;
      for (const [pasted, result] of [
        [world.victim.pubKey, "Same key"],
        [world.victim.keyID, "Same key id"],
        [Buffer.from(world.victim.pubKey, "base64").toString("hex"), "Same key"],
        [other?.pubKey ?? "", "Different key. Do not use it."],
      ] as const) {
        await field.fill(pasted);
        await page.locator(".comparison-result", { hasText: result }).waitFor();
      }
      await page.locator("[data-verdict=bad]").getByText("Different key").waitFor();
      expect(await redNodes(page)).to.deep.equal(["given"]);
      const links = await page.$$eval("a", (links) => links.map(({ href }) => href));
      for (const address of [...links, ...requests, page.url()]) {
        expect(address).to.not.contain(encodeURIComponent(other?.pubKey ?? "").slice(0, 40));
      }
    });
  });

  describe("with chosen evidence", () => {
    it("verifies at a trusted block with a storage proof", async () => {
      const hash = await world.latestHash();
      const { page } = await world.open(`${explorer.url}#/verify/${world.victim.userID}`);
      await page.getByLabel("Source of the block").selectOption("A block that I trust");
      const submit = () => click(page, "Verify with this evidence");
      await page.getByLabel("Block hash").fill(hash);
      await submit();
      await sees(page, "a storage proof under the block hash that you entered");
      await page.getByText("Verify without this page").click();
      expect(await page.innerText(".command")).to.contain(`--trust pinned-block:${hash}`);
      await page.getByLabel("Block hash").fill(`0x${"12".repeat(32)}`);
      await submit();
      await sees(page, "Not verified");
    });

    const chosen = (page: Page) =>
      page.getByLabel("Source of the block").evaluate((select: HTMLSelectElement) => select.selectedOptions[0]?.text);

    it("leads from the verdict to the choice, and keeps the chosen source in the link", async () => {
      const url = await world.serve({ ...world.lightClientConfig(), rpc: [world.stack.rpcUrl] });
      const { userID } = world.victim;
      const { page } = await world.open(`${url}#/verify/${userID}`);
      expect(await verdict(page)).to.contain("Evidence: proven (3 of 3) · Ethereum’s light client · change");
      expect(await page.title()).to.match(new RegExp(`^${userID.slice(0, 8)}….* · Verify a key · `));
      await click(page, "change the evidence");
      const select = page.getByLabel("Source of the block");
      expect(await select.evaluate((element) => element === document.activeElement)).to.be.true;
      await select.selectOption("One endpoint");
      await click(page, "Verify with this evidence");
      await sees(page, "Published, according to one server");
      expect(page.url()).to.equal(`${url}#/verify/${userID}/one-endpoint`);
      const linked = await world.open(page.url());
      expect(await verdict(linked.page)).to.contain("Evidence: one server (1 of 3) · One endpoint");
      const unknown = await world.open(`${url}#/verify/${userID}/constructor`);
      expect(await verdict(unknown.page)).to.contain("Ethereum’s light client");
    });

    it("uses the configured light client by default", async () => {
      const { lightClient } = world.lightClientConfig();
      const url = await world.serve({ lightClient, visitorEndpoints: true });
      const { page, complaints } = await world.open(`${url}#/verify/${world.victim.userID}`);
      expect(await verdict(page))
        .to.contain("This is the user’s published key")
        .and.contain("a block that 512 of the 512 members of Ethereum’s sync committee signed")
        .and.contain("with a storage proof under it");
      expect(await chosen(page)).to.equal("Ethereum’s light client");
      await page.locator("[data-step=anchor] summary").click();
      await sees(page.locator("[data-step=anchor]"), lightClient.checkpoint);
      await page.getByText("Verify without this page").click();
      expect(await page.innerText(".command")).to.contain(
        `--trust light-client \\\n  --beacon ${lightClient.urls[0]} \\\n  --checkpoint ${lightClient.checkpoint}`,
      );
      expect(complaints).to.deep.equal([]);

      const [falseEndpoint = ""] = world.attackedBy("hidden-root").rpc;
      const explorer = await world.serve({ rpc: [falseEndpoint], lightClient });
      const attacked = await world.open(`${explorer}#/verify/${world.victim.userID}`);
      expect(await verdict(attacked.page)).to.contain("PROOF_INVALID");
    });

    it("shows no failed step if the light client proves that a user has no key", async () => {
      const url = await world.serve(world.lightClientConfig());
      const { page } = await world.open(`${url}#/verify/${sampleUserID(99)}`);
      expect(await verdict(page))
        .to.contain("No key is published for this user")
        .and.contain("NOT_PUBLISHED");
      expect(await steps(page))
        .to.include("passed")
        .and.not.include("failed");
      expect(await redNodes(page)).to.deep.equal([]);
    });

    it("verifies without the light client only if the visitor chooses another source", async () => {
      const lightClient = { urls: [world.stack.merkleUrl], checkpoint: `0x${"12".repeat(32)}` };
      const { page } = await world.open(`${await world.serve({ lightClient })}#/verify/${world.victim.userID}`);
      expect(await verdict(page)).to.contain("Not verified");
      await page.getByLabel("Source of the block").selectOption("One endpoint");
      await click(page, "Verify with this evidence");
      await sees(page, "one endpoint’s unproven answer");
      // The page claims a storage proof only for the sources that require one.
      expect(await page.innerText(".evidence-card")).to.contain(
        "With auditors, the light client or a trusted block, a",
      );
    });

    it("uses the configured auditors' block by default", async () => {
      const { auditors } = await world.auditorsConfig();
      const { page, complaints } = await world.open(
        `${await world.serve({ auditors })}#/verify/${world.victim.userID}`,
      );
      expect(await verdict(page)).to.contain("a block that 2 auditors signed (alice.example, bob.example)");
      expect(await chosen(page)).to.equal("Auditors");
      await page.getByText("Verify without this page").click();
      expect(await page.innerText(".command"))
        .to.contain(`--statement-urls ${auditors.urls[0]}`)
        .and.contain("--threshold 2");
      expect(complaints).to.deep.equal([]);
    });

    it("rejects one endpoint's false answer with a quorum", async () => {
      const { rpcUrl } = world.stack;
      const [falseEndpoint = ""] = world.attackedBy("hidden-root").rpc;
      await using opening = new AsyncDisposableStack();
      const second = opening.adopt(await faultyProxy(rpcUrl), (proxy) => proxy.close());
      const endpoints = [falseEndpoint, rpcUrl, second.url];
      const { page } = await world.open(`${await world.serve({ rpc: endpoints })}#/verify/${world.victim.userID}`);
      // The strongest configured source is the default.
      expect(await verdict(page)).to.contain("the agreement of 2 endpoints on the block and on the root");
      await page.getByLabel("Source of the block").selectOption("One endpoint");
      await click(page, "Verify with this evidence");
      await sees(page, "NOT_PUBLISHED");
    });

    it("connects only to configured and added endpoints", async () => {
      const { rpcUrl } = world.stack;
      const visitors = rpcUrl.replace("127.0.0.1", "localhost");
      const explorer = await world.serve({ visitorEndpoints: true, rpc: world.attackedBy("other-chain").rpc });
      const { page, complaints } = await world.open(`${explorer}#/verify/${world.victim.userID}`);
      expect(await verdict(page)).to.contain("CHAIN_ID_MISMATCH");
      const blocked = await page.evaluate((url) => fetch(url).then(String, String), visitors);
      expect(blocked).to.contain("TypeError");
      await eventually(() => {
        expect(complaints).to.have.lengthOf.above(0);
      });
      await page.getByText("Add an endpoint of your own").click();
      const field = page.getByLabel("URL of the endpoint");
      await field.fill(visitors);
      await click(page, "Add endpoint");
      await page.waitForFunction(() => document.querySelectorAll("select").length === 2);
      await page.getByLabel("Source of the block").selectOption("One endpoint");
      await page.getByLabel("Endpoint", { exact: true }).selectOption(visitors);
      await click(page, "Verify with this evidence");
      await sees(page, "Published, according to one server");
      expect(page.url()).to.not.contain("localhost:" + new URL(visitors).port);
    });
  });

  describe("after a verification", () => {
    const download = async (page: Page, name: string): Promise<unknown> => {
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
      return JSON.parse(await readFile(await file.path(), "utf8"));
    };

    it("saves a proof and a bundle that can be verified offline", async () => {
      const { userID, pubKey } = world.victim;
      const { page } = await world.open(`${explorer.url}#/verify/${userID}`);
      await verdict(page);
      await page.getByText("Download the proof").click();
      const proof = await download(page, "Download proof");
      expect(verifyMerkleProof(proof, { userID, root: world.root, expectedPublicKey: ANY_KEY }).record.pubKey).to.equal(
        pubKey,
      );
      const bundle = (await download(page, "Download bundle")) as { header: { number: string } };
      const block = (await rpc(world.stack.rpcUrl, "eth_getBlockByNumber", [bundle.header.number, false])) as {
        hash: string;
      };
      const { chainId, contract } = world.stack;
      const verified = await verifyBundle(bundle, {
        userID,
        chainId,
        contract,
        expectedPublicKey: ANY_KEY,
        trust: pinnedBlock(block.hash),
      });
      expect(verified.record.pubKey).to.equal(pubKey);
      await page.getByRole("link", { name: "Bundle" }).click();
      await page.getByRole("heading", { name: "Verify a bundle" }).waitFor();
      await page.context().setOffline(true);
      const choose = (content: unknown) =>
        page.getByLabel("Bundle", { exact: true }).setInputFiles({
          ...{ name: "alice.bundle.json", mimeType: "application/json" },
          buffer: Buffer.from(JSON.stringify(content)),
        });
      await choose(bundle);
      await sees(page, "alice.bundle.json contains a claim about the user");
      expect(await page.locator("[data-verdict]").count()).to.equal(0);
      const verify = async (hash: string) => {
        await page.getByLabel("Hash of the block").fill(hash);
        await click(page, "Verify bundle");
      };
      await verify(block.hash);
      await sees(page, "a storage proof under the block hash that you entered");
      await verify(`0x${"12".repeat(32)}`);
      await sees(page, "HEADER_MISMATCH");
      await choose({ ...bundle, contract: `0x${"12".repeat(20)}` });
      await sees(page, "alice.bundle.json contains a claim about the user");
      await verify(block.hash);
      await sees(page, "CONTRACT_MISMATCH");
      await choose({ format: "something else" });
      await sees(page, "BUNDLE_SHAPE");
    });
  });

  describe("under its content security policy", () => {
    it("connects only to the configured servers", async () => {
      const { page, complaints, requests } = await world.open(`${explorer.url}#/verify/${world.victim.userID}`);
      await verdict(page);
      expect(complaints).to.deep.equal([]);
      const { rpcUrl, merkleUrl } = world.stack;
      const origins = new Set(requests.map((address) => new URL(address).origin));
      expect(origins).to.deep.equal(new Set([new URL(explorer.url).origin, rpcUrl, merkleUrl]));
      for (const address of requests) expect(address).to.not.contain(world.victim.userID);
    });

    it("allows one script by its hash", async () => {
      const policy = (await fetch(explorer.url)).headers.get("Content-Security-Policy") ?? "";
      expect(policy).to.match(/^default-src 'none'; script-src 'sha384-[A-Za-z0-9+/]+'; style-src 'self';/);
      expect(policy).to.contain("require-trusted-types-for 'script'").and.not.contain("unsafe");
    });
  });
});
