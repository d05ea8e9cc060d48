import { forkAt, TEST_NETWORK, toNumber } from "keyroot/internal/lightClient";
import { simulateUpdate, testCommittee, type UpdateParts } from "@keyroot/operator/testing";
import type { Attack, AttackContext } from "./attack.ts";

/** The hash of an invented block, which is on no chain. */
const INVENTED = `0x${"66".repeat(32)}`;

/** Signs an invented block with some changes to the signed parts. */
const invent = (parts: UpdateParts, changes: Partial<UpdateParts>) =>
  simulateUpdate(TEST_NETWORK, { ...parts, blockHash: INVENTED, ...changes });

export const BEACON_ATTACKS: readonly Attack[] = [
  {
    name: "own-committee",
    attacker: "The beacon endpoint",
    description: "the attacker's own committee signs an invented block",
    expectedCode: "LIGHT_CLIENT_INVALID",
    update: (parts) => invent(parts, { signers: testCommittee(2n ** 100n) }),
  },
  {
    name: "minority",
    attacker: "The beacon endpoint",
    description: "341 of 512 members, too few, sign an invented block",
    expectedCode: "LIGHT_CLIENT_INVALID",
    update: (parts) => invent(parts, { participation: 341 }),
  },
  {
    name: "older-block",
    attacker: "The beacon endpoint",
    description: "the finalized block is older than the key",
    expectedCode: "NOT_PUBLISHED",
    update: (parts, { olderBlock: block }) => simulateUpdate(TEST_NETWORK, { ...parts, blockHash: block.hash, block }),
  },
  {
    name: "other-state",
    attacker: "The beacon endpoint",
    description: "an invented block, with the branch of another state",
    expectedCode: "LIGHT_CLIENT_INVALID",
    update: (parts) => {
      const { finalized_header, finality_branch } = invent(parts, {});
      return { ...simulateUpdate(TEST_NETWORK, parts), finalized_header, finality_branch };
    },
  },
  {
    name: "other-fork",
    attacker: "The beacon endpoint",
    description: "the committee's signature is for another fork",
    expectedCode: "LIGHT_CLIENT_INVALID",
    update: (parts) => invent(parts, { signedFor: { ...TEST_NETWORK, forks: { fulu: ["0x07006b72", 0] } } }),
  },
  {
    name: "other-beacon-chain",
    attacker: "The beacon endpoint",
    description: "the committee's signature is for another chain",
    expectedCode: "LIGHT_CLIENT_INVALID",
    update: (parts) => invent(parts, { signedFor: { ...TEST_NETWORK, genesisValidatorsRoot: INVENTED } }),
  },
  {
    name: "other-block-hash",
    attacker: "The beacon endpoint",
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
    attacker: "The beacon endpoint",
    description: "the list of updates has no end",
    expectedCode: "ANSWER_TOO_LARGE",
    endless: true,
  },
];

/** Changes a finality update in SSZ encoding. */
export function forgeUpdate(
  bytes: Uint8Array,
  change: NonNullable<Attack["update"]>,
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
