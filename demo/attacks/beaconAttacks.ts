import { forkAt, TEST_NETWORK, toNumber, type Update } from "keyroot/internal/lightClient";
import { simulateUpdate, testCommittee, type UpdateParts } from "@keyroot/operator/testing";
import type { ErrorCode } from "keyroot/internal/errors";
import type { AttackContext } from "./keyAttacks.ts";

/** One attempt to make a light client accept a false block. */
interface BeaconAttack {
  name: string;
  /** A one-line description of the attack. */
  description: string;
  /** The error code that the verifier reports. */
  expectedCode: ErrorCode;
  /** Returns a forged version of the newest finality update. @param parts the parts of the genuine update */
  update?: (parts: UpdateParts, context: AttackContext) => Update;
  /** True if the list of updates is endless. */
  endless?: boolean;
}

/** The hash of an invented block, which is on no chain. */
const INVENTED = `0x${"66".repeat(32)}`;

/** Signs an invented block with some changes to the signed parts. */
const invent = (parts: UpdateParts, changes: Partial<UpdateParts>) =>
  simulateUpdate(TEST_NETWORK, { ...parts, blockHash: INVENTED, ...changes });

export const BEACON_ATTACKS: readonly BeaconAttack[] = [
  {
    name: "own-committee",
    description: "the attacker's own committee signs an invented block",
    expectedCode: "LIGHT_CLIENT_INVALID",
    update: (parts) => invent(parts, { signers: testCommittee(2n ** 100n) }),
  },
  {
    name: "minority",
    description: "341 of 512 members sign an invented block, below two thirds",
    expectedCode: "LIGHT_CLIENT_INVALID",
    update: (parts) => invent(parts, { participation: 341 }),
  },
  {
    name: "older-block",
    description: "the finalized block is older than the key",
    expectedCode: "NOT_PUBLISHED",
    update: (parts, { olderBlock: block }) =>
      simulateUpdate(TEST_NETWORK, { ...parts, blockHash: block?.hash ?? INVENTED, block }),
  },
  {
    name: "other-state",
    description: "an invented block, with the branch of another state",
    expectedCode: "LIGHT_CLIENT_INVALID",
    update: (parts) => {
      const { finalized_header, finality_branch } = invent(parts, {});
      return { ...simulateUpdate(TEST_NETWORK, parts), finalized_header, finality_branch };
    },
  },
  {
    name: "other-fork",
    description: "the committee's signature is for another fork",
    expectedCode: "LIGHT_CLIENT_INVALID",
    update: (parts) => invent(parts, { signedFor: { ...TEST_NETWORK, forks: { fulu: ["0x07006b72", 0] } } }),
  },
  {
    name: "other-beacon-chain",
    description: "the committee's signature is for another chain",
    expectedCode: "LIGHT_CLIENT_INVALID",
    update: (parts) => invent(parts, { signedFor: { ...TEST_NETWORK, genesisValidatorsRoot: INVENTED } }),
  },
  {
    name: "other-block-hash",
    description: "the block hash in a signed header is replaced",
    expectedCode: "LIGHT_CLIENT_INVALID",
    update: (parts) => {
      const update = simulateUpdate(TEST_NETWORK, parts);
      update.finalized_header.execution?.block_hash.set(Buffer.from(INVENTED.slice(2), "hex"));
      return update;
    },
  },
  {
    name: "endless-updates",
    description: "the list of updates has no end",
    expectedCode: "ANSWER_TOO_LARGE",
    endless: true,
  },
];

/** Changes a finality update in SSZ encoding. */
export function forgeUpdate(
  bytes: Uint8Array,
  change: NonNullable<BeaconAttack["update"]>,
  context: AttackContext,
): Uint8Array {
  const { finality_update: layout } = forkAt(TEST_NETWORK, NEWEST).layouts;
  const { attested_header: attested, finalized_header: finalized, signature_slot: slot } = layout.decode(bytes);
  const parts = {
    finalizedSlot: toNumber(finalized.beacon.slot),
    attestedSlot: toNumber(attested.beacon.slot),
    signatureSlot: toNumber(slot),
    blockHash: `0x${Buffer.from(finalized.execution?.block_hash ?? []).toString("hex")}`,
  };
  return layout.encode(change(parts, context));
}

/** A slot that belongs to the newest fork. */
const NEWEST = Number.MAX_SAFE_INTEGER;
