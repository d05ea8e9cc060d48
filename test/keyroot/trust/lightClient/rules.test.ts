import { expect } from "chai";
import {
  applyUpdate,
  type BeaconNetwork,
  type Bootstrap,
  rootOf,
  startAt,
  TEST_NETWORK,
  type Update,
} from "keyroot/internal/lightClient";
import {
  committeeOf,
  simulateBootstrap,
  simulateUpdate,
  testCommittee,
  type UpdateParts,
} from "@keyroot/operator/testing";
import { refusalOf } from "../../../support/refusalOf.ts";
import { never } from "../../../support/support.ts";

const PERIOD = 100;
const SLOTS = TEST_NETWORK.slotsPerEpoch * TEST_NETWORK.epochsPerPeriod;
/** The slot of the checkpoint, in the middle of its period. */
const START = PERIOD * SLOTS + SLOTS / 2;
const CURRENT = (PERIOD + 4) * SLOTS;
const REFUSED = "anchor: LIGHT_CLIENT_INVALID";
const hashOf = (digit: string) => `0x${digit.repeat(64)}`;

const checkpointOf = ({ header }: Bootstrap) => `0x${Buffer.from(rootOf(header)).toString("hex")}`;
const stateOf = (bootstrap: Bootstrap, network: BeaconNetwork = TEST_NETWORK) =>
  startAt(network, checkpointOf(bootstrap), bootstrap);
const partsAt = (finalizedSlot: number): UpdateParts => ({
  ...{ finalizedSlot, attestedSlot: finalizedSlot + 1, signatureSlot: finalizedSlot + 2, blockHash: hashOf("b") },
});
/** Returns a copy in which every byte can be changed. */
const copy = <T>(value: T): T => structuredClone(value);
const flip = (bytes: Uint8Array | undefined, at = 0) => {
  if (bytes === undefined) throw new RangeError("There is nothing to change.");
  bytes[at] = (bytes[at] ?? 0) ^ 1;
};

describe("light client rules", () => {
  const bootstrap = simulateBootstrap(TEST_NETWORK, START, hashOf("a"));
  const start = stateOf(bootstrap);
  const genuine = simulateUpdate(TEST_NETWORK, { ...partsAt(START + 10), next: true });
  /** The state at the end of the first period, with the next committee. */
  const withNext = applyUpdate(TEST_NETWORK, start, genuine, CURRENT) ?? never();

  const apply = (update: Update, { state = start, network = TEST_NETWORK, current = CURRENT } = {}) =>
    applyUpdate(network, state, update, current);

  describe("startAt", () => {
    it("accepts the bootstrap of the checkpoint", () => {
      expect(start).to.deep.include({ slot: START, blockHash: hashOf("a"), participation: 0, next: undefined });
    });

    const changes: Record<string, (forged: Bootstrap) => void> = {
      "with another committee": (forged) => (forged.current_sync_committee = committeeOf(PERIOD + 1).committee),
      "with a wrong sum of the committee's keys": ({ current_sync_committee: committee }) =>
        (committee.aggregate_pubkey = testCommittee(7n).committee.aggregate_pubkey),
      "with two committee members in another order": ({ current_sync_committee: { pubkeys } }) =>
        pubkeys.splice(0, 2, ...pubkeys.slice(0, 2).reverse()),
      "with a changed branch": (forged) => {
        flip(forged.current_sync_committee_branch[2]);
      },
      "with a branch that is too short": (forged) => forged.current_sync_committee_branch.pop(),
      "with an additional branch node that is not zero": (forged) =>
        forged.current_sync_committee_branch.unshift(new Uint8Array(32).fill(1)),
      "with a replaced execution block": ({ header }) => {
        flip(header.execution?.block_hash);
      },
      "without an execution header": ({ header }) => delete header.execution,
      "without an execution branch": ({ header }) => delete header.execution_branch,
    };
    for (const [what, change] of Object.entries(changes)) {
      it(`rejects a bootstrap ${what}`, () => {
        const forged = copy(bootstrap);
        change(forged);
        expect(checkpointOf(forged)).to.equal(checkpointOf(bootstrap));
        expect(refusalOf(startAt, TEST_NETWORK, checkpointOf(bootstrap), forged)).to.equal(REFUSED);
      });
    }

    it("rejects a valid bootstrap for another block", () => {
      const other = simulateBootstrap(TEST_NETWORK, START + 1, hashOf("a"));
      expect(refusalOf(startAt, TEST_NETWORK, checkpointOf(bootstrap), other)).to.equal(REFUSED);
    });

    it("rejects a block before the first fork with light clients", () => {
      const network = { ...TEST_NETWORK, forks: { electra: ["0x05006b72", 10 ** 9] } } as const;
      expect(refusalOf(stateOf, bootstrap, network)).to.equal(REFUSED);
    });
  });

  describe("applyUpdate", () => {
    it("stores the finalized header and the next committee", () => {
      expect(withNext).to.deep.include({ slot: START + 10, blockHash: hashOf("b"), participation: 512 });
      expect(withNext.next).to.deep.equal(committeeOf(PERIOD + 1).committee);
    });

    it("accepts signatures of at least two thirds of the committee", () => {
      const signedBy = (participation: number) =>
        simulateUpdate(TEST_NETWORK, { ...partsAt(START + 10), participation });
      expect(apply(signedBy(342))).to.include({ participation: 342 });
      expect(refusalOf(apply, signedBy(341))).to.equal(REFUSED);
      expect(refusalOf(apply, signedBy(1))).to.equal(REFUSED);
    });

    it("uses the next committee in the next period", () => {
      const later = partsAt((PERIOD + 1) * SLOTS + 5);
      const entered = apply(simulateUpdate(TEST_NETWORK, later), { state: withNext });
      expect(entered).to.include({ slot: later.finalizedSlot, next: undefined });
      expect(entered?.current).to.deep.equal(committeeOf(PERIOD + 1).committee);
      const both = apply(simulateUpdate(TEST_NETWORK, { ...later, next: true }), { state: withNext });
      expect(both?.next).to.deep.equal(committeeOf(PERIOD + 2).committee);
    });

    it("keeps its committees for a header signed in the next period", () => {
      const end = (PERIOD + 1) * SLOTS;
      const parts = { ...partsAt(end - 3), attestedSlot: end + 1, signatureSlot: end + 2, next: true };
      const state = apply(simulateUpdate(TEST_NETWORK, parts), { state: withNext });
      expect(state).to.include({ slot: end - 3 });
      expect(state?.current).to.equal(withNext.current);
      expect(state?.next).to.equal(withNext.next);
    });

    it("stores the next committee from an older update of the same period", () => {
      const older = simulateUpdate(TEST_NETWORK, { ...partsAt(START - 100), next: true });
      expect(apply(older)).to.deep.equal({ ...start, next: committeeOf(PERIOD + 1).committee });
    });

    for (const [what, slot] of [
      ["older than", START - 1],
      ["equal to", START],
    ] as const) {
      it(`ignores a finalized header ${what} the known one`, () => {
        expect(apply(simulateUpdate(TEST_NETWORK, partsAt(slot)))).to.equal(undefined);
      });
    }

    it("ignores the next committee of an earlier period", () => {
      const earlier = simulateUpdate(TEST_NETWORK, { ...partsAt(START - SLOTS), next: true });
      expect(apply(earlier)).to.equal(undefined);
    });

    const signed: Record<string, Partial<UpdateParts>> = {
      "signed by an invented committee": { signers: testCommittee(12_345n) },
      "signed by the next committee before its period": { signers: committeeOf(PERIOD + 1) },
      "signed for an earlier fork": { signedFor: { ...TEST_NETWORK, forks: { electra: ["0x05006b72", 0] } } },
      "signed for another chain": { signedFor: { ...TEST_NETWORK, genesisValidatorsRoot: hashOf("c") } },
      "signed in the slot of its header": { signatureSlot: START + 11 },
      "signed before its header": { signatureSlot: START + 9 },
      "with a finalized header after its attested header": { finalizedSlot: START + 12, signatureSlot: START + 14 },
      "of the next period while its committee is unknown": partsAt(START + SLOTS),
    };
    for (const [what, parts] of Object.entries(signed)) {
      it(`rejects an update ${what}`, () => {
        const update = simulateUpdate(TEST_NETWORK, { ...partsAt(START + 10), ...parts });
        expect(refusalOf(apply, update)).to.equal(REFUSED);
      });
    }

    it("rejects an update one slot in the future", () => {
      const update = simulateUpdate(TEST_NETWORK, partsAt(START + 10));
      expect(refusalOf(apply, update, { current: START + 11 })).to.equal("anchor: FUTURE_BLOCK");
      expect(apply(update, { current: START + 12 })).to.not.equal(undefined);
    });

    it("rejects an update that skips a period", () => {
      const update = simulateUpdate(TEST_NETWORK, partsAt(START + 2 * SLOTS));
      expect(refusalOf(apply, update, { state: withNext })).to.equal(REFUSED);
    });

    it("rejects the previous committee's signature in the next period", () => {
      const update = simulateUpdate(TEST_NETWORK, { ...partsAt(START + SLOTS), signers: committeeOf(PERIOD) });
      expect(refusalOf(apply, update, { state: withNext })).to.equal(REFUSED);
    });

    it("rejects a next committee that differs from the known one", () => {
      const next = testCommittee(99n).committee;
      const update = simulateUpdate(TEST_NETWORK, { ...partsAt(START + 20), next });
      expect(apply(update)).to.deep.include({ next });
      expect(refusalOf(apply, update, { state: withNext })).to.equal(REFUSED);
    });

    const changes: Record<string, (forged: Update) => void> = {
      "with a replaced execution block": ({ finalized_header: header }) => {
        flip(header.execution?.block_hash);
      },
      "with a replaced attested execution block": ({ attested_header: header }) => {
        flip(header.execution?.block_hash);
      },
      "with a finalized header without an execution block": ({ finalized_header: header }) => delete header.execution,
      "with a changed execution branch": ({ finalized_header: header }) => {
        flip(header.execution_branch?.[0]);
      },
      "with another slot in the finalized header": ({ finalized_header: { beacon } }) => {
        flip(beacon.slot);
      },
      "with another state in the finalized header": ({ finalized_header: { beacon } }) => {
        flip(beacon.state_root);
      },
      "with another genuine finalized header": (forged) => {
        forged.finalized_header = simulateUpdate(TEST_NETWORK, partsAt(START + 9)).finalized_header;
      },
      "with a finality branch from another state": (forged) => {
        forged.finality_branch = simulateUpdate(TEST_NETWORK, partsAt(START + 9)).finality_branch;
        flip(forged.finality_branch[3]);
      },
      "with a finality branch that is too short": ({ finality_branch: branch }) => branch.pop(),
      "with another attested header": (forged) => {
        forged.attested_header = simulateUpdate(TEST_NETWORK, partsAt(START + 11)).attested_header;
      },
      "with another proposer in the attested header": ({ attested_header: { beacon } }) => {
        flip(beacon.proposer_index);
      },
      "with a replaced next committee": (forged) => (forged.next_sync_committee = testCommittee(3n).committee),
      "with a wrong sum of the next committee's keys": ({ next_sync_committee: next }) => {
        flip(next?.aggregate_pubkey, 47);
      },
      "without a branch for the next committee": (forged) => delete forged.next_sync_committee_branch,
      "with a changed branch for the next committee": ({ next_sync_committee_branch: branch }) => {
        flip(branch?.[1]);
      },
      "that does not list one of its signers": ({ sync_aggregate: { sync_committee_bits: bits } }) => {
        flip(bits, 20);
      },
      "with a changed signature": ({ sync_aggregate: { sync_committee_signature: signature } }) => {
        flip(signature, 95);
      },
      "with a signature of zeros": ({ sync_aggregate: aggregate }) => {
        aggregate.sync_committee_signature = new Uint8Array(96);
      },
      "with the point at infinity as its signature": ({ sync_aggregate: aggregate }) => {
        aggregate.sync_committee_signature = new Uint8Array(96);
        aggregate.sync_committee_signature[0] = 0xc0;
      },
      "with another update's signature": ({ sync_aggregate: aggregate }) => {
        const other = simulateUpdate(TEST_NETWORK, partsAt(START + 11)).sync_aggregate;
        aggregate.sync_committee_signature = other.sync_committee_signature;
      },
      "with a signature slot in another period": ({ signature_slot: slot }) => {
        slot[3] = (slot[3] ?? 0) ^ 2;
      },
    };
    for (const [what, change] of Object.entries(changes)) {
      it(`rejects an update ${what}`, () => {
        const forged = copy(genuine);
        change(forged);
        expect(refusalOf(apply, forged)).to.equal(REFUSED);
      });
    }

    it("rejects an update that counts an absent member as a signer", () => {
      const forged = copy(simulateUpdate(TEST_NETWORK, { ...partsAt(START + 10), participation: 500 }));
      flip(forged.sync_aggregate.sync_committee_bits, 63);
      expect(refusalOf(apply, forged)).to.equal(REFUSED);
    });
  });
});
