import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { finding, FINDING_CODES, Findings } from "../../../packages/operator/src/audit/finding.ts";

const ROOT = "ab".repeat(32);

describe("the findings of an audit", () => {
  it("have exactly the codes that docs/auditing.md explains", async () => {
    const text = await readFile(join(import.meta.dirname, "../../../docs/auditing.md"), "utf8");
    const rows = Array.from(text.matchAll(/^\| `([A-Z_]+)` +\|/gm), ([, code]) => code);
    expect(rows.toSorted()).to.deep.equal(Object.values(FINDING_CODES).flat().toSorted());
  });

  it("keep damage in the place of notices when the list is full", () => {
    const findings = new Findings();
    for (let i = 0; i < Findings.MAX_KEPT + 5; i++) findings.add([finding("USER_SUPERSEDED", String(i))]);
    findings.add([finding("USER_HIDDEN", "of the root", { root: ROOT }), finding("LOG_WITHHELD", "of all")]);
    expect(findings.count).to.deep.equal({ damage: 2, notice: Findings.MAX_KEPT + 5 });
    expect([findings.list.length, findings.omitted]).to.deep.equal([Findings.MAX_KEPT, 7]);
    findings.sort([ROOT]);
    expect(findings.list.slice(0, 3).map(({ code }) => code)).to.deep.equal([
      "USER_HIDDEN",
      "LOG_WITHHELD",
      "USER_SUPERSEDED",
    ]);
  });
});
