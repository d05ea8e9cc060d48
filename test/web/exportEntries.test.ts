import { expect } from "chai";
import { entriesToCsv, toJsonLines } from "../../packages/web/src/dashboard/auditLog/exportEntries.ts";

const entry = {
  ...{
    id: "1",
    at: 1_800_000_000_000,
    action: "user.created",
    biz_id: "biz_1",
    user_id: null,
    data: { region: "a,b" },
  },
  ...{ actor: { kind: "person", id: "7", name: '=HYPERLINK("x")', token_id: null }, request_id: "r", address: null },
};

describe("export of the audit log", () => {
  it("contains one quoted row per entry", () => {
    const [head, row, end] = entriesToCsv([entry]).split("\r\n");
    expect(head).to.match(/^"time","action","actor_kind"/);
    expect(row).to.match(/^"2027-01-15T08:00:00.000Z","user.created","person","7",/);
    expect(row).to.contain('"{""region"":""a,b""}"');
    expect(end).to.equal("");
  });

  it("contains formulas only as text", () => {
    expect(entriesToCsv([entry])).to.contain(`"'=HYPERLINK(""x"")"`);
    for (const start of ["=", "+", "-", "@", "\t"])
      expect(entriesToCsv([{ ...entry, actor: { ...entry.actor, name: `${start}1` } }])).to.contain(`"'${start}1"`);
  });

  it("contains one JSON object per line", () => {
    const lines = toJsonLines([entry, entry]).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).to.deep.equal([entry, entry]);
  });
});
