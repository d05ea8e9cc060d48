import { expect } from "chai";
import { applyUpdate, FORKS, periodOf, slotAt, startAt, timeOf } from "keyroot/internal/lightClient";
import { mainnet, MAINNET_SAMPLES, splitUpdates } from "../../../support/beacon/mainnet.ts";

/** Finalized slots and numbers of signers for each update, from public block explorers. */
const EXPECTED = {
  1347: [11_034_656, 11_044_448, 11_051_008, 11_059_200, 11_067_808, 11_075_584],
  1422: [11_651_008],
};
const CURRENT_SLOT = slotAt(mainnet, Date.UTC(2026, 0, 1));

describe("light client with mainnet data", () => {
  for (const { period, fork, checkpoint, bootstrap, bootstrapBytes, updates, updatesBytes } of MAINNET_SAMPLES) {
    describe(`from period ${period}, ${fork}`, () => {
      const { layouts } = FORKS[fork];

      it("accepts the bootstrap and every update", () => {
        let state = startAt(mainnet, checkpoint, bootstrap);
        expect(periodOf(mainnet, state.slot)).to.equal(period);
        const slots = updates.map((update) => {
          const next = applyUpdate(mainnet, state, update, CURRENT_SLOT);
          expect(next).to.not.equal(undefined);
          state = next ?? state;
          return state.slot;
        });
        expect(slots).to.deep.equal(EXPECTED[period as keyof typeof EXPECTED]);
        expect(state.participation).to.be.at.least(508);
        expect(state.blockHash).to.match(/^0x[0-9a-f]{64}$/);
        expect(state.next).to.not.equal(undefined);
        // Since the Merge, a block's time is the time of its slot.
        expect(state.block).to.include({ hash: state.blockHash, timestamp: timeOf(mainnet, state.slot) / 1000 });
        expect(state.block?.stateRoot).to.match(/^0x[0-9a-f]{64}$/);
      });

      it("encodes an update as the same bytes that it decoded", () => {
        expect(Buffer.from(layouts.bootstrap.encode(bootstrap)).equals(bootstrapBytes)).to.equal(true);
        const read = splitUpdates(updatesBytes);
        for (const [i, update] of updates.entries())
          expect(Buffer.from(layouts.update.encode(update)).equals(read[i] ?? Buffer.alloc(0))).to.equal(true);
      });

      it("rejects an update that skips a period", () => {
        const state = startAt(mainnet, checkpoint, bootstrap);
        const [, second] = updates;
        if (second === undefined) return;
        expect(() => applyUpdate(mainnet, state, second, CURRENT_SLOT)).to.throw(
          /its period is 1348, but the committee/,
        );
      });
    });
  }
});
