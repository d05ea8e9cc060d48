import { expect } from "chai";
import fc from "fast-check";
import {
  type FeeData,
  gasPriceOf,
  maxGasPriceOf,
  feesOf,
} from "../../../../packages/operator/src/publisher/chain/fees.ts";
import { bumpFees } from "../../../../packages/operator/src/publisher/transactions/feeBumps.ts";

const GWEI = 10n ** 9n;
const NO_LIMIT = 10n ** 30n;
const anyFeeData: fc.Arbitrary<FeeData> = fc.record({
  baseFeePerGas: fc.option(fc.bigInt(0n, 1000n * GWEI), { nil: undefined }),
  priorityFee: fc.bigInt(0n, 100n * GWEI),
});

describe("transaction fees", () => {
  describe("feesOf", () => {
    it("offers twice the current base fee plus the priority fee", () => {
      expect(feesOf({ baseFeePerGas: 10n * GWEI, priorityFee: GWEI }, NO_LIMIT)).to.deep.equal({
        maxFeePerGas: 21n * GWEI,
        maxPriorityFeePerGas: GWEI,
      });
    });

    it("offers a gas price on chains without a base fee", () => {
      const feeData = { baseFeePerGas: undefined, priorityFee: 5n * GWEI };
      expect(feesOf(feeData, NO_LIMIT)).to.deep.equal({ gasPrice: 5n * GWEI });
    });

    it("never offers more than the limit", () => {
      fc.assert(
        fc.property(anyFeeData, fc.bigInt(0n, 3000n * GWEI), (feeData, maxFee) => {
          const fees = feesOf(feeData, maxFee);
          const price = gasPriceOf(feeData);
          if (price > maxFee) expect(fees).to.equal(undefined);
          else expect(fees !== undefined && maxGasPriceOf(fees) >= price && maxGasPriceOf(fees) <= maxFee).to.be.true;
        }),
      );
    });
  });

  describe("bumpFees", () => {
    it("raises each part by at least an eighth, as nodes require", () => {
      fc.assert(
        fc.property(anyFeeData, anyFeeData, (before, now) => {
          fc.pre((before.baseFeePerGas === undefined) === (now.baseFeePerGas === undefined));
          const fees = feesOf(before, NO_LIMIT);
          const bumped = fees && bumpFees(fees, now, NO_LIMIT);
          expect(Object.keys(bumped ?? {})).to.deep.equal(Object.keys(fees ?? {}));
          for (const [name, wei] of Object.entries<bigint>(fees ?? {})) {
            expect(8n * ((bumped as Record<string, bigint>)[name] ?? 0n) > 9n * wei, name).to.be.true;
          }
          expect(bumped !== undefined && maxGasPriceOf(bumped) >= gasPriceOf(now)).to.be.true;
        }),
      );
    });

    it("returns undefined if the higher fees are above the limit", () => {
      const feeData = { baseFeePerGas: 10n * GWEI, priorityFee: GWEI };
      const fees = { maxFeePerGas: 21n * GWEI, maxPriorityFeePerGas: GWEI };
      expect(bumpFees(fees, feeData, 23n * GWEI)).to.equal(undefined);
      expect(bumpFees(fees, feeData, 24n * GWEI)).to.deep.include({ maxPriorityFeePerGas: GWEI + GWEI / 8n + 1n });
    });
  });
});
