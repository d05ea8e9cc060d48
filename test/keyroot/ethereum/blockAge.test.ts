import { expect } from "chai";
import { isEarlier } from "../../../packages/keyroot/src/ethereum/blockAge.ts";

const block = (timestamp: number, number: number) => ({ timestamp, number });

describe("the order of two blocks", () => {
  it("is the order of their times, even if false numbers contradict it", () => {
    expect(isEarlier(block(100, 2 ** 52), block(101, 7))).to.be.true;
    expect(isEarlier(block(101, 7), block(100, 2 ** 52))).to.be.false;
  });

  it("is the order of their numbers if their times are equal, as on rollups", () => {
    expect(isEarlier(block(100, 7), block(100, 8))).to.be.true;
    expect(isEarlier(block(100, 8), block(100, 7))).to.be.false;
    expect(isEarlier(block(100, 7), block(100, 7))).to.be.false;
  });

  it("is unknown if a block is missing", () => {
    expect(isEarlier(undefined, block(100, 7))).to.be.false;
    expect(isEarlier(block(100, 7), undefined)).to.be.false;
  });
});
