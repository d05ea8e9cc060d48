import { expect } from "chai";
import fc from "fast-check";
import { parsePlan, type Plan, serializePlan } from "@keyroot/operator/publisher";
import { VerificationError } from "keyroot/internal/errors";
import { sampleUserID, sha256 } from "../../../support/samples.ts";
import { never } from "../../../support/support.ts";

const target = {
  chainId: 31337,
  genesisHash: `0x${"1".repeat(64)}`,
  contract: `0x${"2".repeat(40)}`,
  owner: `0x${"3".repeat(40)}`,
};

/** Creates a plan whose batches have these numbers of users. */
function planOf(sizes: readonly number[]): Plan {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const userIDs = Array.from({ length: total }, (_, i) => sampleUserID(i)).toSorted();
  const batches = sizes.map((size, i) => ({
    root: sha256(`root ${i}`),
    fileBytes: 800 * size,
    users: size,
    userIDs: userIDs.splice(0, size),
  }));
  return { ...target, usersPerTransaction: Math.max(1, ...sizes), batches };
}

const textOf = (plan: Plan) => [...serializePlan(plan)].join("");
const parse = (text: string | Uint8Array) => parsePlan(Buffer.from(text));

describe("a serialized plan", () => {
  const plan = planOf([3, 3, 2]);
  const text = textOf(plan);

  it("can be parsed to the same plan", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 6 }), (sizes) => {
        const plan = planOf(sizes);
        expect(parse(textOf(plan))).to.deep.equal(plan);
        expect(textOf(parse(textOf(plan)))).to.equal(textOf(plan));
      }),
      { numRuns: 50 },
    );
  });

  it("has a header and one line per batch", () => {
    const [head = "", ...lines] = text.trimEnd().split("\n");
    expect(JSON.parse(head)).to.deep.equal({
      format: "keyroot-plan/1",
      ...target,
      usersPerTransaction: 3,
      batches: 3,
      users: 8,
    });
    expect(lines.map((line) => JSON.parse(line) as unknown)).to.deep.equal(
      plan.batches.map(({ root, fileBytes, userIDs }) => ({ root, fileBytes, userIDs })),
    );
  });

  describe("parsePlan", () => {
    const [first = never(), second = never(), third = never()] = plan.batches;
    const withBatches = (...batches: Plan["batches"]) => textOf({ ...plan, batches });
    const cases: [string, string | Uint8Array][] = [
      ["with another format", text.replace("keyroot-plan/1", "keyroot-plan/2")],
      ["without the line feed of its last line", text.slice(0, -1)],
      ["without its last line", text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1)],
      ["with an extra line", `${text}{}\n`],
      [
        "with a user twice in one batch",
        withBatches(first, { ...second, userIDs: [...second.userIDs.slice(0, 2), second.userIDs[1] ?? ""] }),
      ],
      ["with a user in two batches", withBatches(first, { ...second, userIDs: [...first.userIDs] })],
      ["with users in another order", withBatches(second, first, third)],
      ["with an invalid user id", text.replace(third.userIDs[1] ?? "", "l".repeat(32))],
      ["with a batch without users", withBatches(first, { ...second, userIDs: [] })],
      ["with an invalid root", text.replace(first.root, first.root.toUpperCase())],
      [
        "with more users in a batch than usersPerTransaction",
        text.replace('"usersPerTransaction":3', '"usersPerTransaction":2'),
      ],
      ["with wrong counts in its head", text.replace('"users":8', '"users":9')],
      ["with an invalid chain id", text.replace("31337", '"31337"')],
      ["with an invalid contract address", text.replace(target.contract, "0x")],
      ["with an unknown key", text.replace('{"root"', '{"more":1,"root"')],
      ["with bytes that are not UTF-8", Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0x0a])])],
    ];
    for (const [what, bad] of cases) {
      it(`rejects a plan ${what}`, () => {
        expect(() => parse(bad))
          .to.throw(VerificationError)
          .with.property("code", "PLAN_INVALID");
      });
    }

    it("rejects an empty text, text that is not JSON, and JSON with a duplicate key", () => {
      expect(() => parse("")).to.throw(VerificationError);
      const twice = text.replace('{"root"', `{"fileBytes":1,"root"`);
      expect(() => parse(twice))
        .to.throw(VerificationError)
        .with.property("code", "JSON_DUPLICATE_KEY");
      expect(() => parse(`${text}nonsense\n`)).to.throw(VerificationError);
    });
  });
});
