import { expect } from "chai";
import { parseAuditorOptions } from "keyroot/internal/auditors";
import { findStatement } from "../../../../packages/keyroot/src/trust/auditors/findStatement.ts";
import { statementText } from "../../../support/auditors/statementHost.ts";
import { signedBy, TestAuditor } from "../../../support/auditors/testAuditor.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";
import { failure } from "../../../support/support.ts";

const NOW = 1_800_000_000;
const place = { chainId: 1, contract: `0x${"12".repeat(20)}` };

describe("findStatement", () => {
  it("requests all older statements in one round", async () => {
    const auditors = Array.from({ length: 9 }, (_, i) => new TestAuditor(`auditor-${i}.example`));
    const [dishonest, honest] = [auditors.slice(0, 4), auditors.slice(4)];
    const textOf = (number: number) => statementText(place, { number, hash: `0x${"34".repeat(32)}`, timestamp: NOW });
    const files = new Map(
      auditors.map((auditor, i) => {
        const text = textOf(dishonest.includes(auditor) ? 200 + i : 100);
        return [`https://${auditor.name}/latest.txt`, signedBy([auditor], text)];
      }),
    );
    const { promise: released, resolve: release } = Promise.withResolvers<unknown>();
    /** Delays responses with older statements until a request for the honest auditors' statement arrives. */
    const fetch = async (input: unknown) => {
      const url = String(input);
      if (url.endsWith("/100.txt")) release(undefined);
      if (!url.endsWith("/latest.txt")) await released;
      const file = files.get(url);
      return new Response(file ?? "", { status: file === undefined ? 404 : 200 });
    };
    const query = {
      ...{ place, folders: auditors.map(({ name }) => `https://${name}`) },
      policy: parseAuditorOptions({ keys: auditors.map(({ key }) => key), threshold: honest.length }),
    };
    const http = { timeoutMs: ENDLESS_MS, fetch: fetch as typeof globalThis.fetch };
    const { block } = await findStatement(query, http, () => NOW * 1000);
    expect(block.number).to.equal(100);
  });

  describe("with a folder that never responds", () => {
    const auditors = ["a", "b", "c"].map((name) => new TestAuditor(`${name}.example`));
    const [first, second] = auditors as [TestAuditor, TestAuditor];
    const text = (number: number, timestamp = NOW) =>
      statementText(place, { number, hash: `0x${"34".repeat(32)}`, timestamp });
    const find = async (files: Record<string, string>) => {
      const fetch = async (input: unknown, init?: RequestInit) => {
        const url = String(input);
        if (url.startsWith("https://c.example"))
          await new Promise((resolve) => init?.signal?.addEventListener("abort", resolve));
        return new Response(files[url] ?? "", { status: url in files ? 200 : 404 });
      };
      const query = {
        ...{ place, folders: auditors.map(({ name }) => `https://${name}`) },
        policy: parseAuditorOptions({ keys: auditors.map(({ key }) => key), threshold: 2 }),
      };
      const ended = new AbortController();
      const http = { timeoutMs: ENDLESS_MS, fetch: fetch as typeof globalThis.fetch, signal: ended.signal };
      try {
        return await findStatement(query, http, () => NOW * 1000);
      } finally {
        // As a verification does at its end. Otherwise, the open request would keep the process running.
        ended.abort();
      }
    };

    it("returns the newest statement that enough other auditors signed", async () => {
      const { block } = await find({
        "https://a.example/latest.txt": signedBy([first], text(100)),
        "https://b.example/latest.txt": signedBy([second], text(100)),
      });
      expect(block.number).to.equal(100);
    });

    it("is not blocked by one auditor's statement about a block in the future", async () => {
      const { block } = await find({
        "https://a.example/latest.txt": signedBy([first], text(2 ** 50, NOW + 10 ** 9)),
        "https://a.example/100.txt": signedBy([first], text(100)),
        "https://b.example/latest.txt": signedBy([second, first], text(100)),
      });
      expect(block.number).to.equal(100);
    });
  });

  it("reports an old statement with enough signatures, even if one auditor signed a newer one", async () => {
    const [a, b] = ["a", "b"].map((name) => new TestAuditor(`${name}.example`)) as [TestAuditor, TestAuditor];
    const text = (number: number, timestamp: number) =>
      statementText(place, { number, hash: `0x${"34".repeat(32)}`, timestamp });
    const files: Record<string, string> = {
      "https://a.example/latest.txt": signedBy([a], text(200, NOW)),
      "https://b.example/latest.txt": signedBy([a, b], text(100, NOW - 10 ** 6)),
    };
    const fetch = (input: unknown) =>
      Promise.resolve(new Response(files[String(input)] ?? "", { status: String(input) in files ? 200 : 404 }));
    const query = {
      ...{ place, folders: ["https://a.example", "https://b.example"] },
      policy: parseAuditorOptions({ keys: [a.key, b.key], threshold: 2 }),
    };
    const http = { timeoutMs: ENDLESS_MS, fetch: fetch as typeof globalThis.fetch };
    expect(await failure(findStatement(query, http, () => NOW * 1000))).to.include({
      name: "VerificationError",
      code: "STATEMENT_TOO_OLD",
    });
  });
});
