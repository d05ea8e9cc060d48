import { expect } from "chai";
import { applyUpdate, FORKS, type LightClientState, slotAt, startAt } from "keyroot/internal/lightClient";
import { KeyrootError } from "keyroot";
import { mainnet, MAINNET_SAMPLES, splitUpdates } from "../../../support/beacon/mainnet.ts";
import { never } from "../../../support/support.ts";
import { WorkCounter } from "../../../support/countWork.ts";
import { isLarge, testAll } from "../../../support/testSize.ts";

/** The number of changed responses. FAULTS=large uses 20,000. */
const COUNT = isLarge ? 20_000 : testAll ? 400 : 100;
const CURRENT_SLOT = slotAt(mainnet, Date.UTC(2026, 0, 1));

/** Creates a generator that returns the same numbers from 0 to 1 in each run. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * Returns a copy with one random change: a bit or byte is changed, bytes are appended, or a part is deleted, repeated,
 * moved or zeroed.
 */
function mutate(bytes: Uint8Array, random: () => number): Uint8Array {
  const below = (limit: number) => Math.floor(random() * limit);
  const changed = Buffer.from(bytes);
  // Most bytes are keys. Half of the changes therefore affect other bytes: headers, branches and offsets.
  const at = random() < 0.5 ? below(changed.length) : (changed.length - 1 - below(1800)) % changed.length;
  const length = 1 + below(64);
  switch (below(7)) {
    case 0:
      changed[at] = (changed[at] ?? 0) ^ (1 << below(8));
      return changed;
    case 1:
      changed[at] = below(256);
      return changed;
    case 2:
      return Buffer.concat([changed.subarray(0, at), changed.subarray(at + length)]);
    case 3:
      return Buffer.concat([changed.subarray(0, at), changed.subarray(at, at + length), changed.subarray(at)]);
    case 4:
      changed.copyWithin(at, below(changed.length), changed.length);
      return changed;
    case 5:
      changed.fill(0, at, Math.min(at + length, changed.length));
      return changed;
    default:
      return Buffer.concat([changed, Buffer.alloc(length, below(256))]);
  }
}

describe("light client with changed mainnet responses", function () {
  if (isLarge) this.timeout(0);

  for (const { period, fork, checkpoint, bootstrap, bootstrapBytes, updates, updatesBytes } of testAll
    ? MAINNET_SAMPLES
    : MAINNET_SAMPLES.slice(-1)) {
    const { layouts } = FORKS[fork];
    const state = startAt(mainnet, checkpoint, bootstrap);
    const [updateBytes = never()] = splitUpdates(updatesBytes);
    const [update = never()] = updates;
    /** Restores the signature slot. Nobody signs this slot, so any slot of the same period and fork is valid. */
    const withSlotOf = (changed: Uint8Array) => {
      const { signature_slot: slot } = update;
      return Buffer.from(layouts.update.encode({ ...layouts.update.decode(changed), signature_slot: slot }));
    };
    /** Removes as many signers as the rules allow. This causes the most work for a verification. */
    const withFewest = (bytes: Uint8Array) => {
      if (bytes !== updateBytes) return bytes;
      const changed = structuredClone(update);
      changed.sync_aggregate.sync_committee_bits.fill(0).fill(255, 0, 43);
      return Buffer.from(layouts.update.encode(changed));
    };
    const readings: Record<string, [Uint8Array, (bytes: Uint8Array) => LightClientState | undefined]> = {
      bootstrap: [bootstrapBytes, (bytes) => startAt(mainnet, checkpoint, layouts.bootstrap.decode(bytes))],
      update: [updateBytes, (bytes) => applyUpdate(mainnet, state, layouts.update.decode(bytes), CURRENT_SLOT)],
    };
    for (const [what, [bytes, read]] of Object.entries(readings)) {
      it(`rejects each changed ${what} of period ${period}`, () => {
        const random = makeRandom(period);
        for (let i = 0; i < COUNT / 4; i++) {
          const changed = mutate(bytes, random);
          if (Buffer.from(changed).equals(bytes)) continue;
          try {
            if (read(changed) !== undefined)
              expect(withSlotOf(changed), `change ${i}`).to.deep.equal(Buffer.from(bytes));
          } catch (error) {
            if (!(error instanceof KeyrootError)) throw error;
            expect(error.code, `change ${i}`).to.be.oneOf(["LIGHT_CLIENT_INVALID", "BEACON_ANSWER_INVALID"]);
          }
        }
      });

      it(`does at most ten times the work for a changed ${what} of period ${period}`, () => {
        using counter = new WorkCounter();
        // The first verification also fills internal tables.
        read(bytes);
        const valid = counter.count(() => read(bytes));
        const random = makeRandom(period + 1);
        for (const changed of [...Array.from({ length: COUNT / 50 }, () => mutate(bytes, random)), withFewest(bytes)]) {
          const work = counter.count(() => {
            try {
              read(changed);
            } catch (error) {
              if (!(error instanceof KeyrootError)) throw error;
            }
          });
          expect(work.hashes).to.be.at.most(10 * valid.hashes);
          expect(work.multiplications).to.be.at.most(10 * valid.multiplications);
        }
      });
    }
  }
});
