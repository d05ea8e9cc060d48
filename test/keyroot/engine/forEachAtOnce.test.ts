import { expect } from "chai";
import { setTimeout } from "node:timers/promises";
import { forEachAtOnce } from "../../../packages/keyroot/src/engine/forEachAtOnce.ts";
import { failure } from "../../support/support.ts";

describe("forEachAtOnce", () => {
  it("runs the work for each item, for at most that many at the same time", async () => {
    let [running, most] = [0, 0];
    const done: number[] = [];
    await forEachAtOnce(3, [5, 4, 3, 2, 1, 0, 1, 2], async (ms) => {
      most = Math.max(most, ++running);
      await setTimeout(ms);
      running--;
      done.push(ms);
    });
    expect(most).to.equal(3);
    expect(done.sort()).to.deep.equal([0, 1, 1, 2, 2, 3, 4, 5]);
  });

  it("ends with the first error, and begins no more work", async () => {
    const begun: number[] = [];
    const work = async (item: number) => {
      begun.push(item);
      await setTimeout(item);
      if (item === 2) throw new RangeError("two");
    };
    expect(await failure(forEachAtOnce(2, [1, 2, 3, 4, 5], work))).to.have.property("message", "two");
    await setTimeout(20);
    expect(begun).to.deep.equal([1, 2, 3]);
  });
});
