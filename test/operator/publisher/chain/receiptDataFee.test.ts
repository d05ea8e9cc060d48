import { expect } from "chai";
import { TransportError } from "keyroot/internal/errors";
import { receiptDataFee } from "../../../../packages/operator/src/publisher/chain/receiptDataFee.ts";

describe("receiptDataFee", () => {
  const L1 = { l1Fee: "0x1234" };
  const OPERATOR = { operatorFeeScalar: "0x1e8480", operatorFeeConstant: "0x7" };

  it("adds the operator fee by the rules of Isthmus or Jovian", () => {
    expect(receiptDataFee(L1, 50_000)).to.equal(0x1234n);
    expect(receiptDataFee({ ...L1, ...OPERATOR }, 50_000)).to.equal(0x1234n + 100_000n + 7n);
    const jovian = { ...L1, ...OPERATOR, daFootprintGasScalar: "0x190" };
    expect(receiptDataFee(jovian, 50_000)).to.equal(0x1234n + 50_000n * 2_000_000n * 100n + 7n);
  });

  it("returns 0 on chains without these fees", () => {
    expect(receiptDataFee({}, 50_000)).to.equal(0n);
    expect(receiptDataFee({ l1Fee: null, operatorFeeScalar: null, daFootprintGasScalar: null }, 50_000)).to.equal(0n);
  });

  it("rejects values that are not quantities", () => {
    for (const value of [12, "12", "0x", `0x${"f".repeat(65)}`, {}]) {
      expect(() => receiptDataFee({ operatorFeeScalar: value }, 1))
        .to.throw(TransportError)
        .with.property("code", "RPC_ANSWER_INVALID");
    }
  });
});
