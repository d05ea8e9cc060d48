import { expect } from "chai";
import fc from "fast-check";
import { offer, priceOf, raise, topOf } from "../../../packages/operator/src/publisher/transactions/fees.ts";

const GWEI = 10n ** 9n;
const ENOUGH = 10n ** 30n;
const anyMarket = fc.record({
  baseFeePerGas: fc.option(fc.bigInt(0n, 1000n * GWEI), { nil: undefined }),
  tip: fc.bigInt(0n, 100n * GWEI),
});

describe("fees", () => {
  describe("offer", () => {
    it("pays the present price, and twice the base fee at the most", () => {
      expect(offer({ baseFeePerGas: 10n * GWEI, tip: GWEI }, ENOUGH)).to.deep.equal({
        maxFeePerGas: 21n * GWEI,
        maxPriorityFeePerGas: GWEI,
      });
    });

    it("is a gas price where the chain has no base fee", () => {
      expect(offer({ baseFeePerGas: undefined, tip: 5n * GWEI }, ENOUGH)).to.deep.equal({ gasPrice: 5n * GWEI });
    });

    it("never pays more than allowed, and is none where that is less than the price", () => {
      fc.assert(
        fc.property(anyMarket, fc.bigInt(0n, 3000n * GWEI), (market, maxFee) => {
          const fees = offer(market, maxFee);
          if (priceOf(market) > maxFee) expect(fees).to.equal(undefined);
          else expect(fees !== undefined && topOf(fees) >= priceOf(market) && topOf(fees) <= maxFee).to.be.true;
        }),
      );
    });
  });

  describe("raise", () => {
    it("raises each part by an eighth or more, which every node takes for a replacement", () => {
      fc.assert(
        fc.property(anyMarket, anyMarket, (before, now) => {
          fc.pre((before.baseFeePerGas === undefined) === (now.baseFeePerGas === undefined));
          const fees = offer(before, ENOUGH);
          const raised = fees && raise(fees, now, ENOUGH);
          expect(Object.keys(raised ?? {})).to.deep.equal(Object.keys(fees ?? {}));
          for (const [name, wei] of Object.entries<bigint>(fees ?? {})) {
            expect(8n * ((raised as Record<string, bigint>)[name] ?? 0n) > 9n * wei, name).to.be.true;
          }
          expect(raised !== undefined && topOf(raised) >= priceOf(now)).to.be.true;
        }),
      );
    });

    it("is none where it would be more than allowed", () => {
      const market = { baseFeePerGas: 10n * GWEI, tip: GWEI };
      const fees = { maxFeePerGas: 21n * GWEI, maxPriorityFeePerGas: GWEI };
      expect(raise(fees, market, 23n * GWEI)).to.equal(undefined);
      expect(raise(fees, market, 24n * GWEI)).to.deep.include({ maxPriorityFeePerGas: GWEI + GWEI / 8n + 1n });
    });
  });
});
