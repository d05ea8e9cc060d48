import { expect } from "chai";
import { toQuantity as toEthersQuantity } from "ethers";
import fc from "fast-check";
import { TransportError } from "keyroot";
import { parseQuantity, parseSafeQuantity, toQuantity } from "../../../packages/keyroot/src/ethereum/rpcValues.ts";
import { describeValue } from "keyroot/internal/input";
import { INVALID_ANSWERS } from "../../support/data/junk.ts";

const LARGEST = 2n ** 256n - 1n;
const INVALID = [...INVALID_ANSWERS, "0x", "1", "0x1.5", "-0x1", `0x1${"0".repeat(64)}`];

describe("quantities", () => {
  describe("toQuantity", () => {
    it("encodes numbers in the same way as ethers", () => {
      fc.assert(
        fc.property(fc.bigInt(0n, LARGEST), fc.nat(), (large, small) => {
          expect(toQuantity(large)).to.equal(toEthersQuantity(large));
          expect(toQuantity(small)).to.equal(toEthersQuantity(small));
        }),
      );
    });
  });

  describe("parseQuantity", () => {
    it("decodes all numbers of up to 256 bits", () => {
      fc.assert(fc.property(fc.bigInt(0n, LARGEST), (number) => parseQuantity(toQuantity(number)) === number));
    });

    it("accepts upper case and leading zeros", () => {
      expect(["0xAa36a7", "0x0001"].map(parseQuantity)).to.deep.equal([11_155_111n, 1n]);
    });

    it("rejects any other value", () => {
      for (const value of INVALID) expectInvalid(parseQuantity, value);
    });
  });

  describe("parseSafeQuantity", () => {
    it("decodes numbers below 2^53", () => {
      const numbers = ["0x0", "0x1", "0xAa36a7", "0x0001", "0x1fffffffffffff"].map(parseSafeQuantity);
      expect(numbers).to.deep.equal([0, 1, 11_155_111, 1, Number.MAX_SAFE_INTEGER]);
    });

    it("rejects any other value", () => {
      const large = ["0x20000000000000", `0x1${"0".repeat(16)}`, `0x${"0123456789abcdef".repeat(4)}`];
      for (const value of [...INVALID, ...large]) expectInvalid(parseSafeQuantity, value);
    });
  });
});

function expectInvalid(parse: (value: unknown) => unknown, value: unknown): void {
  expect(() => parse(value), describeValue(value))
    .to.throw(TransportError)
    .and.include({ code: "RPC_ANSWER_INVALID", actual: describeValue(value) });
}
