import { expect } from "chai";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { makeMerkleFile } from "../../packages/keyroot/src/merkle/file.ts";
import { textOf } from "../support/samples.ts";
import { done } from "../support/browser/explorerStates.ts";
import { sharedExplorer } from "../support/browser/sharedExplorer.ts";
import { describeIfNamed } from "../support/named.ts";
import { serve } from "../support/servers/servers.ts";

/** A text that would set a global variable if a page used it as markup. */
const MARKUP = `<img src=x onerror="pwned=1"><script>pwned=1</script><svg onload="pwned=1">`;

describeIfNamed(import.meta.filename)("explorer with hostile servers and links", () => {
  const explorer = sharedExplorer();
  const { world } = explorer;
  const opened = new AsyncDisposableStack();
  after(() => opened.disposeAsync());

  /** Starts a server that any page may use. */
  const server = async (respond: (request: IncomingMessage, response: ServerResponse) => unknown) => {
    const listening = await serve((request, response) => {
      response.setHeader("Access-Control-Allow-Origin", "*");
      response.setHeader("Access-Control-Allow-Headers", "Content-Type");
      if (request.method === "OPTIONS") response.end();
      else void respond(request, response);
    });
    return opened.adopt(listening, (it) => it.close()).url;
  };
  const fileHost = (content: () => string, status = 200) =>
    server((_, response) => response.writeHead(status).end(content()));

  const verdictOf = (page: Page) => page.getAttribute("[data-verdict]", "data-verdict");
  /** Checks that nothing was executed or added to the page, and that the browser had nothing to block. */
  const expectHarmless = async (page: Page, complaints: readonly string[]) => {
    expect(await page.evaluate("globalThis.pwned")).to.equal(undefined);
    expect(await page.locator("main img, main script, main [onload], main [onerror]").count()).to.equal(0);
    expect(complaints.filter((complaint) => /policy|trusted|uncaught|TypeError/i.test(complaint))).to.deep.equal([]);
  };

  const file = () => makeMerkleFile(world.records);
  const FILES: Readonly<Record<string, () => string>> = {
    "an unknown key": () => textOf(file()).replace('"lookup":', `${JSON.stringify(MARKUP)}:"a","lookup":`),
    "a value": () => textOf(file()).replace(/"values":\["/, `"values":[${JSON.stringify(MARKUP)},"`),
    "a record": () => textOf(file()).replaceAll(world.victim.keyID, JSON.stringify(MARKUP).slice(1, -1)),
    "a user id of the lookup": () => textOf(file()).replace('"lookup":{', `"lookup":{${JSON.stringify(MARKUP)}:0,`),
    "the hash algorithm": () => textOf(file()).replace('"sha256"', JSON.stringify(MARKUP)),
  };
  for (const [where, content] of Object.entries(FILES)) {
    it(`shows the file host's markup in ${where} as text`, async () => {
      const url = await world.serve({ merkleUrl: await fileHost(content) });
      const { page, complaints } = await world.open(`${url}#/verify/${world.victim.userID}`);
      await done(page);
      expect(await verdictOf(page)).to.equal("bad");
      await expectHarmless(page, complaints);
      await page.goto(`${url}#/batch/${world.root}`);
      await page.getByText("This file cannot be shown").waitFor();
      await expectHarmless(page, complaints);
    });
  }

  for (const [what, status, code] of [
    ["error page", 500, "FILE_HOST_ERROR"],
    // A web page instead of a file is usually a wrong address or the page of a wireless network, not a forgery.
    ["web page", 200, "FILE_IS_HTML"],
  ] as const) {
    it(`shows an error instead of the file host's ${what}`, async () => {
      const url = await world.serve({ merkleUrl: await fileHost(() => `<!doctype html>${MARKUP}`, status) });
      const { page, complaints } = await world.open(`${url}#/verify/${world.victim.userID}`);
      await done(page);
      expect(await verdictOf(page)).to.equal("open");
      expect(await page.innerText("[data-verdict]")).to.contain(code);
      await expectHarmless(page, complaints);
    });
  }

  for (const [what, answer] of [
    ["an error message", { error: { code: -32000, message: MARKUP } }],
    ["a result", { result: MARKUP }],
    ["the block's fields", { result: { number: MARKUP, hash: MARKUP } }],
  ] as const) {
    it(`shows an endpoint's markup in ${what} as text`, async () => {
      const rpc = await server(async (request, response) => {
        const { id } = JSON.parse(await text(request)) as { id: number };
        response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
      });
      const url = await world.serve({ rpc: [rpc] });
      const { page, complaints } = await world.open(`${url}#/verify/${world.victim.userID}`);
      await done(page);
      expect(await verdictOf(page)).to.not.equal("good");
      await expectHarmless(page, complaints);
    });
  }

  it("stops reading an endless file", async () => {
    let sent = 0;
    const merkleUrl = await server((_, response) => {
      const chunk = Buffer.alloc(2 ** 20, " ");
      const write = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        sent += chunk.length;
      };
      response.on("drain", write);
      write();
    });
    const url = await world.serve({ merkleUrl });
    const { page } = await world.open(`${url}#/verify/${world.victim.userID}`);
    await done(page);
    expect(await page.innerText("[data-verdict]")).to.contain("ANSWER_TOO_LARGE");
    expect(sent).to.be.below(2 ** 27);
  });

  for (const [what, content] of [
    ["brackets", () => "[".repeat(2 ** 23)],
    ["objects", () => `{"values":[${"{},".repeat(2 ** 22)}{}]}`],
    ["values", () => `{"merkle":{},"values":[${'"a",'.repeat(300_000)}"a"],"lookup":{}}`],
  ] as const) {
    it(`rejects a file with too many ${what}`, async () => {
      const url = await world.serve({ merkleUrl: await fileHost(content) });
      const { page, complaints } = await world.open(`${url}#/verify/${world.victim.userID}`);
      await done(page);
      expect(await verdictOf(page)).to.equal("bad");
      await expectHarmless(page, complaints);
    });
  }

  it("parses a dropped file only in the worker", async () => {
    const { page, complaints } = await world.open(explorer.url);
    await page.locator("h1").waitFor();
    const dataTransfer = await page.evaluateHandle((root) => {
      const { parse } = JSON;
      JSON.parse = (text: string, ...more) => {
        document.body.dataset["parsed"] = String(text.length);
        return parse(text, ...more) as unknown;
      };
      const transfer = new DataTransfer();
      const text = `{"merkle":{"root":"${root}"},"values":[${"{},".repeat(2 ** 20)}{}]}`;
      transfer.items.add(new File([text], "file.json", { type: "application/json" }));
      return transfer;
    }, world.root);
    await page.dispatchEvent("main", "drop", { dataTransfer });
    await page.getByText("This file cannot be shown").waitFor();
    expect(await page.innerText("main")).to.contain("JSON_TOO_MANY_VALUES");
    expect(await page.getAttribute("body", "data-parsed")).to.equal(null);
    await expectHarmless(page, complaints);
  });

  for (const link of [
    `#/verify/${MARKUP}`,
    `#/verify/${encodeURIComponent(MARKUP)}`,
    `#/batch/${encodeURIComponent(MARKUP)}`,
    "#/batch/%252e%252e%252fsecret",
    `#/attacks/${MARKUP}`,
    "#/attacks/__proto__",
    "#/constructor",
    "#/verify/%E0%A4%A",
    `#/verify/${"y".repeat(100_000)}`,
    `#/${MARKUP}`,
  ]) {
    it(`ignores the invalid link ${link.slice(0, 40)}`, async () => {
      const { page, complaints, requests } = await world.open(explorer.url + link);
      await page.locator("h1").waitFor();
      await expectHarmless(page, complaints);
      const { merkleUrl, rpcUrl } = world.stack;
      expect(requests.filter((address) => address.startsWith(merkleUrl) || address.startsWith(rpcUrl))).to.be.empty;
    });
  }

  it("shows markup in a bundle and its name as text", async () => {
    const { page, complaints } = await world.open(`${explorer.url}#/bundle`);
    const bytes = JSON.stringify({ format: MARKUP, [MARKUP]: MARKUP });
    const input = page.getByLabel("Bundle", { exact: true });
    await input.setInputFiles({ name: `${MARKUP}.json`, mimeType: "application/json", buffer: Buffer.from(bytes) });
    await done(page);
    expect(await page.innerText("[data-verdict]")).to.contain("BUNDLE_SHAPE");
    await expectHarmless(page, complaints);
  });
});
