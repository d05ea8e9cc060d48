import { expect } from "chai";
import {
  applyUpdate,
  type BeaconNetwork,
  forkAt,
  type ForkName,
  FORKS,
  hashPair,
  type LightClientHeader,
  rootOf,
  startAt,
  TEST_NETWORK,
} from "keyroot/internal/lightClient";
import { simulateBootstrap, simulateUpdate } from "@keyroot/operator/testing";
import { refusalOf } from "../../../support/refusalOf.ts";

const NAMES = Object.keys(FORKS) as ForkName[];
const EPOCH = TEST_NETWORK.slotsPerEpoch;
const START = 10 * EPOCH;
const BLOCK = `0x${"b".repeat(64)}`;
const WITHOUT_BLOCKS: readonly string[] = ["altair", "bellatrix"];

const versionOf = (name: ForkName) => `0x0${NAMES.indexOf(name) + 1}006b72`;
const networkWith = (forks: Partial<Record<ForkName, number>>): BeaconNetwork => ({
  ...TEST_NETWORK,
  forks: Object.fromEntries(
    Object.entries(forks).map(([name, epoch]) => [name, [versionOf(name as ForkName), epoch]] as const),
  ),
});
const slotsFrom = (finalizedSlot: number, distance = 1) => ({
  ...{ finalizedSlot, attestedSlot: finalizedSlot + distance, signatureSlot: finalizedSlot + distance + 1 },
  ...{ blockHash: BLOCK, next: true },
});
const start = (network: BeaconNetwork) => {
  const bootstrap = simulateBootstrap(network, START, BLOCK);
  return {
    bootstrap,
    state: startAt(network, `0x${Buffer.from(rootOf(bootstrap.header)).toString("hex")}`, bootstrap),
  };
};

describe("light client rules across forks", () => {
  for (const name of NAMES) {
    it(`accept an update from the ${name} fork`, () => {
      const network = networkWith({ [name]: 0 });
      const { bootstrap, state } = start(network);
      const { layouts } = FORKS[name];
      const bytes = layouts.bootstrap.encode(bootstrap);
      expect(layouts.bootstrap.encode(layouts.bootstrap.decode(bytes))).to.deep.equal(bytes);
      const update = layouts.update.decode(layouts.update.encode(simulateUpdate(network, slotsFrom(START + 1))));
      const next = applyUpdate(network, state, update, START + 10);
      expect(next).to.include({ slot: START + 1, participation: 512 });
      expect(next?.blockHash).to.equal(WITHOUT_BLOCKS.includes(name) ? undefined : BLOCK);
    });
  }

  for (const [before, after] of [
    ["deneb", "electra"],
    ["electra", "fulu"],
  ] as const) {
    it(`accept a header of ${before} that is finalized in ${after}`, () => {
      const network = networkWith({ [before]: 0, [after]: 12 });
      const update = simulateUpdate(network, slotsFrom(12 * EPOCH - 1));
      const next = applyUpdate(network, start(network).state, update, 13 * EPOCH);
      expect(next).to.include({ slot: 12 * EPOCH - 1, blockHash: BLOCK });
    });
  }

  it("require signatures for the previous fork in a fork's first slot", () => {
    const network = networkWith({ electra: 0, fulu: 12 });
    const parts = { ...slotsFrom(12 * EPOCH - 2), attestedSlot: 12 * EPOCH - 1, signatureSlot: 12 * EPOCH };
    const { state } = start(network);
    const signedFor = (name: ForkName) => simulateUpdate(network, { ...parts, signedFor: networkWith({ [name]: 0 }) });
    expect(applyUpdate(network, state, signedFor("electra"), 13 * EPOCH)).to.include({ slot: 12 * EPOCH - 2 });
    expect(refusalOf(applyUpdate, network, state, signedFor("fulu"), 13 * EPOCH)).to.equal(
      "anchor: LIGHT_CLIENT_INVALID",
    );
  });

  describe("from Gloas on", () => {
    const network = networkWith({ fulu: 0, gloas: 12 });
    /** A Fulu header with the block hash's branch in the longer form of Gloas. */
    const inGloasForm = ({ beacon }: LightClientHeader, extra: number): LightClientHeader => {
      const depth = Math.floor(Math.log2(forkAt(network, START).blockHash ?? NaN));
      const hash = Buffer.from(BLOCK.slice(2), "hex");
      const branch = Array.from({ length: depth }, () => new Uint8Array(32));
      let root: Uint8Array = hash;
      for (let i = forkAt(network, START).blockHash ?? 0; i > 1; i >>= 1)
        root = i % 2 === 0 ? hashPair(root, new Uint8Array(32)) : hashPair(new Uint8Array(32), root);
      const zeros = Array.from({ length: 2 }, () => new Uint8Array(32).fill(extra));
      return {
        beacon: { ...beacon, body_root: root },
        execution_block_hash: hash,
        execution_branch: [...zeros, ...branch],
      };
    };
    const { header } = simulateBootstrap(network, START, BLOCK);
    const startWith = (header: LightClientHeader) => {
      const bootstrap = { ...simulateBootstrap(network, START, BLOCK), header };
      return startAt(network, `0x${Buffer.from(rootOf(header)).toString("hex")}`, bootstrap);
    };

    it("require only the execution block's hash in headers", () => {
      const { attested_header: attested } = simulateUpdate(network, slotsFrom(12 * EPOCH));
      expect(attested).to.have.all.keys("beacon", "execution_block_hash", "execution_branch");
      expect(FORKS.gloas.layouts.finality_update.size).to.be.a("number");
    });

    it("accept a Fulu header whose branch begins with zeros", () => {
      expect(startWith(inGloasForm(header, 0))).to.include({ blockHash: BLOCK });
    });

    it("reject a Fulu header whose branch begins with other bytes", () => {
      expect(refusalOf(startWith, inGloasForm(header, 1))).to.equal("anchor: LIGHT_CLIENT_INVALID");
    });
  });
});
