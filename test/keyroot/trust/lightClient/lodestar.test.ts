import { expect } from "chai";
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyUpdate, FORKS, slotAt, startAt } from "keyroot/internal/lightClient";
import { installLodestar } from "../../../../bench/anchors/peers.ts";
import { KeyrootError } from "keyroot";
import { mainnet, MAINNET_SAMPLES, type MainnetSample, splitUpdates } from "../../../support/beacon/mainnet.ts";
import { never } from "../../../support/support.ts";
import { isLarge, testAll } from "../../../support/testSize.ts";

type Pair = [bootstrap: Uint8Array, update: Uint8Array];

const PROGRAM = join(import.meta.dirname, "lodestar.mjs");
const CURRENT_SLOT = slotAt(mainnet, Date.UTC(2026, 0, 1));
/** Number of changed pairs per sample. Lodestar takes up to 1 s for each pair. */
const CHANGES = isLarge ? 200 : 20;

/** Returns a copy with one changed bit. Most changes affect the last 1,800 bytes, which contain no keys. */
function flip(bytes: Uint8Array, seed: number): Uint8Array {
  const changed = new Uint8Array(bytes);
  const number = Math.imul(seed + 1, 2_654_435_761) >>> 0;
  const at = seed % 4 === 0 ? number % changed.length : changed.length - 1 - (number % 1800);
  changed[at] = (changed[at] ?? 0) ^ (1 << (number >>> 29));
  return changed;
}

/**
 * Returns the slot of the finalized header after a bootstrap and an update, or null if the library rejects the
 * bootstrap.
 */
function slotAfter({ fork, checkpoint }: MainnetSample, [bootstrap, update]: Pair): number | null {
  const { layouts } = FORKS[fork];
  const unless = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      if (error instanceof KeyrootError) return undefined;
      throw error;
    }
  };
  const state = unless(() => startAt(mainnet, checkpoint, layouts.bootstrap.decode(bootstrap)));
  if (state === undefined) return null;
  const next = unless(() => applyUpdate(mainnet, state, layouts.update.decode(update), CURRENT_SLOT));
  return (next ?? state).slot;
}

// The first run downloads 63 MB from npm.
if (testAll)
  describe("Lodestar's light client", function () {
    this.timeout(1_200_000);
    let folder: string;
    let lodestar: string;

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "keyroot-test-"));
      lodestar = join(folder, "lodestar");
      await installLodestar(lodestar);
      copyFileSync(PROGRAM, join(lodestar, "lodestar.mjs"));
    });

    after(() => rm(folder, { recursive: true }));

    for (const sample of MAINNET_SAMPLES)
      it(`accepts the same mainnet responses as the library: ${sample.fork}`, () => {
        const { bootstrapBytes: bootstrap, updatesBytes, checkpoint, fork } = sample;
        const [update = never()] = splitUpdates(updatesBytes);
        const pairs: Pair[] = [
          [bootstrap, update],
          ...Array.from({ length: CHANGES }, (_, i): Pair =>
            i % 4 === 3 ? [flip(bootstrap, i), update] : [bootstrap, flip(update, i)],
          ),
        ];
        const texts = pairs.map((pair) => pair.map((bytes) => Buffer.from(bytes).toString("base64")));
        const input = JSON.stringify({ checkpoint, fork, currentSlot: CURRENT_SLOT, pairs: texts });
        const output = execFileSync(process.execPath, ["lodestar.mjs"], { cwd: lodestar, input, maxBuffer: 2 ** 26 });
        const slots = pairs.map((pair) => slotAfter(sample, pair));
        expect(JSON.parse(output.toString())).to.deep.equal(slots);
        expect(slots.filter((slot) => slot !== slots[0])).to.not.be.empty;
      });
  });
