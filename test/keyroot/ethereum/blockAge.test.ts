import { expect } from "chai";
import { isEarlier } from "../../../packages/keyroot/src/ethereum/blockAge.ts";

const block = (timestamp: number, number: number) => ({ timestamp, number });

describe("isEarlier", () => {
  it("compares the times of two blocks", () => {
    expect(isEarlier(block(100, 2 ** 52), block(101, 7))).to.be.true;
    expect(isEarlier(block(101, 7), block(100, 2 ** 52))).to.be.false;
  });

  it("compares the numbers of blocks with the same time", () => {
    expect(isEarlier(block(100, 7), block(100, 8))).to.be.true;
    expect(isEarlier(block(100, 8), block(100, 7))).to.be.false;
    expect(isEarlier(block(100, 7), block(100, 7))).to.be.false;
  });

  it("returns false if a block is missing", () => {
    expect(isEarlier(undefined, block(100, 7))).to.be.false;
    expect(isEarlier(block(100, 7), undefined)).to.be.false;
  });
});
