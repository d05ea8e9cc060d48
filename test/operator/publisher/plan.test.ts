import { expect } from "chai";
import fc from "fast-check";
import { VerificationError } from "../../../packages/keyroot/src/errors.ts";
import { parsePlan, type Plan, serializePlan } from "../../../packages/operator/src/publisher/plan/plan.ts";
import { sampleUserID, sha256 } from "../../../fixtures/samples.ts";

const target = {
  chainId: 31337,
  genesisHash: `0x${"1".repeat(64)}`,
  contract: `0x${"2".repeat(40)}`,
  owner: `0x${"3".repeat(40)}`,
};

/** A plan of as many users to each batch. */
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

describe("plan", () => {
  const plan = planOf([3, 3, 2]);
  const text = textOf(plan);

  it("reads as it was written, and is written again byte for byte", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 6 }), (sizes) => {
        const plan = planOf(sizes);
        expect(parse(textOf(plan))).to.deep.equal(plan);
        expect(textOf(parse(textOf(plan)))).to.equal(textOf(plan));
      }),
      { numRuns: 50 },
    );
  });

  it("has a head that names format, chain, registry and counts, and then a line for each root", () => {
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

  describe("refuses", () => {
    const [first = never(), second = never(), third = never()] = plan.batches;
    const withBatches = (...batches: Plan["batches"]) => textOf({ ...plan, batches });
    const cases: [string, string | Uint8Array][] = [
      ["another format", text.replace("keyroot-plan/1", "keyroot-plan/2")],
      ["a plan whose end is missing", text.slice(0, -1)],
      ["a plan whose last line is missing", text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1)],
      ["a line too many", `${text}{}\n`],
      [
        "a user twice",
        withBatches(first, { ...second, userIDs: [...second.userIDs.slice(0, 2), second.userIDs[1] ?? ""] }),
      ],
      ["a user in two roots", withBatches(first, { ...second, userIDs: [...first.userIDs] })],
      ["users in another order", withBatches(second, first, third)],
      ["a user that is none", text.replace(third.userIDs[1] ?? "", "l".repeat(32))],
      ["a root without users", withBatches(first, { ...second, userIDs: [] })],
      ["a root that is none", text.replace(first.root, first.root.toUpperCase())],
      ["more users than a transaction takes", text.replace('"usersPerTransaction":3', '"usersPerTransaction":2')],
      ["other counts than it has", text.replace('"users":8', '"users":9')],
      ["a chain that is none", text.replace("31337", '"31337"')],
      ["a contract that is none", text.replace(target.contract, "0x")],
      ["a further key", text.replace('{"root"', '{"more":1,"root"')],
      ["bytes that are no text", Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0x0a])])],
    ];
    for (const [what, bad] of cases) {
      it(what, () => {
        expect(() => parse(bad))
          .to.throw(VerificationError)
          .with.property("code", "PLAN_INVALID");
      });
    }

    it("nothing, a key twice, and what is no JSON", () => {
      expect(() => parse("")).to.throw(VerificationError);
      const twice = text.replace('{"root"', `{"fileBytes":1,"root"`);
      expect(() => parse(twice))
        .to.throw(VerificationError)
        .with.property("code", "JSON_DUPLICATE_KEY");
      expect(() => parse(`${text}nonsense\n`)).to.throw(VerificationError);
    });
  });
});

function never(): never {
  throw new Error("there is none");
}
