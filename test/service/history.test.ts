import { expect } from "chai";
import fc from "fast-check";
import { type KeyInput, keyModel, type KeyOutput } from "../support/history/keyModel.ts";
import { linearize, type Model, type Operation } from "../support/history/linearizable.ts";

type Value = number;
type Register = Operation<{ write: Value } | "read", Value | "written">;

const register: Model<Value, Register["input"], Value | "written"> = {
  initial: 0,
  step: (state, input, output) =>
    input === "read" ? (output === undefined || output === state ? [state] : []) : [input.write],
  keyOf: String,
};

const at = <Input, Output>(called: number, returned: number, input: Input, output: Output | undefined) => ({
  ...{ called, returned, input, output },
});
const write = (called: number, returned: number, value: Value): Register =>
  at(called, returned, { write: value }, "written");
const lost = (called: number, returned: number, value: Value): Register =>
  at(called, returned, { write: value }, undefined);
const read = (called: number, returned: number, value: Value): Register => at(called, returned, "read", value);

describe("linearize", () => {
  it("accepts a register's history if an order of its calls explains all results", () => {
    for (const history of [
      [],
      [write(0, 1, 1), read(2, 3, 1)],
      // The read overlaps the write.
      [write(0, 9, 1), read(1, 2, 0), read(3, 4, 1)],
      [write(0, 9, 1), write(0, 9, 2), read(10, 11, 1)],
      // A write without a result takes effect late or never.
      [lost(0, 1, 1), read(2, 3, 0), read(4, 5, 1)],
      [lost(0, 1, 1), read(2, 3, 0)],
    ])
      expect(linearize(history, register)).not.to.equal(undefined);
  });

  it("rejects a register's history if no order of its calls explains all results", () => {
    for (const history of [
      // The reads are stale, lost, invented, and in contradictory orders.
      [write(0, 1, 1), read(2, 3, 0)],
      [write(0, 1, 1), write(2, 3, 2), read(4, 5, 1)],
      [read(0, 1, 7)],
      [write(0, 9, 1), read(1, 2, 1), read(3, 4, 0)],
      [write(0, 9, 1), write(0, 9, 2), read(10, 11, 1), read(12, 13, 2)],
      // The write took effect once and cannot take effect again.
      [lost(0, 1, 1), read(2, 3, 1), write(4, 5, 2), read(6, 7, 1)],
    ])
      expect(linearize(history, register)).to.equal(undefined);
  });

  it("returns the same result as a search of all orders", () => {
    const operation = fc.tuple(
      fc.nat(6),
      fc.integer({ min: 0, max: 4 }),
      fc.nat(2),
      fc.constantFrom("read", "write", "lost"),
    );
    const histories = fc
      .array(operation, { maxLength: 5 })
      .map((list) =>
        list.map(([called, length, value, kind]) =>
          kind === "read"
            ? read(called, called + length, value)
            : (kind === "lost" ? lost : write)(called, called + length, value),
        ),
      );
    let rejected = 0;
    fc.assert(
      fc.property(histories, (history) => {
        const expected = orders(history).some(isSequential);
        if (!expected) rejected++;
        expect(linearize(history, register) !== undefined).to.equal(expected);
      }),
      { numRuns: 1000 },
    );
    expect(rejected).to.be.above(50);
  });
});

/**
 * All orders of the operations, with and without each lost write. Operations that do not overlap keep their order.
 */
function orders(history: readonly Register[]): Register[][] {
  const possible = history.every(({ output }) => output === undefined) ? [[]] : [];
  const ends = history.map(({ output, returned }) => (output === undefined ? Infinity : returned));
  const first = history.filter(({ called }) => ends.every((end) => called <= end));
  return [
    ...possible,
    ...first.flatMap((one) => orders(history.filter((other) => other !== one)).map((rest) => [one, ...rest])),
  ];
}

function isSequential(order: readonly Register[]): boolean {
  let value = 0;
  for (const { input, output } of order) {
    if (input !== "read") value = input.write;
    else if (output !== value) return false;
  }
  return true;
}

describe("the model of a user's key", () => {
  type Step = [input: KeyInput, output: KeyOutput | undefined];
  const isAllowed = (...steps: Step[]) =>
    linearize(
      steps.map(([input, output], i) => at(2 * i, 2 * i + 1, input, output)),
      keyModel,
    ) !== undefined;
  const registers = (keyID: string, output?: KeyOutput): Step => [{ call: "register", keyID }, output];
  const removes = (keyID: string, result: "removed" | "unknown" | "fixed"): Step => [
    { call: "remove", keyID },
    { result },
  ];
  const reads = (keyID: string | undefined, state: "unregistered" | "pending" | "published"): Step => [
    { call: "read" },
    { result: "read", keyID, state },
  ];
  const pending: KeyOutput = { result: "registered", state: "pending" };
  const refused: KeyOutput = { result: "refused" };

  it("allows one key, its removal and a second key", () => {
    expect(
      isAllowed(
        registers("a", pending),
        registers("a", pending),
        registers("b", refused),
        reads("a", "pending"),
        removes("b", "unknown"),
        removes("a", "removed"),
        removes("a", "removed"),
        reads(undefined, "unregistered"),
        registers("b", pending),
        reads("b", "published"),
        removes("b", "fixed"),
      ),
    ).to.equal(true);
  });

  for (const [fault, steps] of Object.entries<Step[]>({
    "a second key beside the first": [registers("a", pending), registers("b", pending)],
    "a lost key": [registers("a", pending), reads(undefined, "unregistered")],
    "another key than the registered one": [registers("a", pending), reads("b", "pending")],
    "a refusal for a user without a key": [registers("a", refused)],
    "the removal of a key that was not registered": [removes("a", "removed")],
    "a removed key that is still there": [registers("a", pending), removes("a", "removed"), reads("a", "pending")],
    "a published key that is pending again": [registers("a", pending), reads("a", "published"), reads("a", "pending")],
    "a removed key after it was published": [registers("a", pending), reads("a", "published"), removes("a", "removed")],
    "a pending key that is said to be fixed": [registers("a", pending), removes("a", "fixed"), reads("a", "pending")],
  }))
    it(`rejects ${fault}`, () => {
      expect(isAllowed(...steps)).to.equal(false);
    });
});
