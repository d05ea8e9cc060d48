import { expect } from "chai";
import { parseAuditorOptions } from "keyroot/internal/auditors";
import { findStatement } from "../../../../packages/keyroot/src/trust/auditors/findStatement.ts";
import { statementText } from "../../../support/auditors/statementHost.ts";
import { signedBy, TestAuditor } from "../../../support/auditors/testAuditor.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";

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
});
