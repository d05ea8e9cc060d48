import { expect } from "chai";
import { toHistory } from "../../packages/web/src/dashboard/users/history.ts";

const HOUR_MS = 3_600_000;
const START = 1_800_000_000_000;

/** An entry of the audit log, as the API returns it. */
const entry = (hours: number, action: string, data: Record<string, unknown>) => ({
  ...{ id: String(hours), at: START + hours * HOUR_MS, action, biz_id: "biz_1", user_id: "y".repeat(32), data },
  actor: { kind: "service" as const },
});

describe("history of a user in the dashboard", () => {
  it("contains the changes of the account, newest first", () => {
    const entries = [
      entry(5, "keyChange.published", { number: 2, key_id: "void" }),
      entry(4, "keyChange.taken", { number: 2, key_id: "b2" }),
      entry(3, "keyChange.published", { number: 1, key_id: "b1", block: 12, transaction: "0x34" }),
      entry(2, "keyChange.approved", { number: 1, key_id: "b1" }),
      entry(1, "keyChange.objected", { number: 1, key_id: "b1" }),
      entry(0, "account.stored", {}),
    ];
    const items = toHistory(entries as never, { state: "conflict" } as never, new Map());
    expect(items.map(({ text }) => text)).to.deep.equal([
      "Change 2 published: its slot is void",
      "Change 2 failed, because another key has its slot",
      "Change 1 published",
      "Change 1 approved",
      "Objection to change 1",
      "Account stored",
    ]);
    const [voided, , published] = items;
    expect(published).to.deep.include({ keyID: "b1", block: 12, transaction: "0x34" });
    expect(voided).to.not.have.property("keyID");
  });
});
