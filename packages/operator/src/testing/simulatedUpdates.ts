import type { BlockHeader } from "keyroot/internal/ethereum";
import {
  type BeaconNetwork,
  type Bootstrap,
  COMMITTEE,
  type Committee,
  COMMITTEE_SIZE,
  forkAt,
  hashPair,
  type LightClientHeader,
  PAYLOAD_INDEX,
  periodOf,
  publicKeysFrom,
  rootOf,
  sign,
  signingRootOf,
  type Update,
} from "keyroot/internal/lightClient";

/**
 * A sync committee of 512 test keys. The secret keys are consecutive numbers that start with `first`. A single
 * signature with the sum of these numbers is therefore the signature of all members.
 */
export interface TestCommittee {
  first: bigint;
  committee: Committee;
}

/** The parts of a simulated update. Tests replace these parts with false values. */
export interface UpdateParts {
  finalizedSlot: number;
  attestedSlot: number;
  signatureSlot: number;
  /** The hash of the execution block in the finalized header: 0x and 64 hex digits. */
  blockHash: string;
  /** The other fields of the execution block. Default: zeros. */
  block?: Omit<BlockHeader, "hash"> | undefined;
  /** The committee that signs. Default: the committee for the period of `signatureSlot`. */
  signers?: TestCommittee;
  /** The number of members that sign. Default: 512. */
  participation?: number;
  /**
   * The next committee to include. True selects the committee of the period after `attestedSlot`. Default: none, as in
   * a finality update.
   */
  next?: boolean | Committee;
  /**
   * The network for which the signature is made, whose forks determine the signed fork. Default: the chain's own
   * network.
   */
  signedFor?: BeaconNetwork;
}

const ZERO = new Uint8Array(32);
const SECRET_OF_PERIOD_0 = 2n ** 64n;
const committees = new Map<bigint, TestCommittee>();

/**
 * Creates the keys of a test committee, starting from a secret key. Both the secret and the public keys are publicly
 * known.
 */
export function testCommittee(first: bigint): TestCommittee {
  let made = committees.get(first);
  if (made === undefined) {
    const { keys, sum } = publicKeysFrom(first, COMMITTEE_SIZE);
    made = { first, committee: { pubkeys: keys, aggregate_pubkey: sum } };
    committees.set(first, made);
  }
  return made;
}

/** Returns the committee of a period. Every simulated chain has the same committees. */
export function committeeOf(period: number): TestCommittee {
  return testCommittee(SECRET_OF_PERIOD_0 + BigInt(period * COMMITTEE_SIZE));
}

/** Creates a Merkle tree. The keys of the map are the generalized indices of the leaves. All other leaves are zero. */
function sparseTree(leaves: ReadonlyMap<number, Uint8Array>) {
  const inner = new Set<number>();
  for (const index of leaves.keys()) for (let i = index >> 1; i > 0; i >>= 1) inner.add(i);
  const nodeAt = (i: number): Uint8Array =>
    leaves.get(i) ?? (inner.has(i) ? hashPair(nodeAt(2 * i), nodeAt(2 * i + 1)) : ZERO);
  return {
    root: nodeAt(1),
    branchOf: (index: number) => {
      const branch: Uint8Array[] = [];
      for (let i = index; i > 1; i >>= 1) branch.push(nodeAt(i ^ 1).slice());
      return branch;
    },
  };
}

function uint64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
  return bytes;
}

function fromHex(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), "hex");
}

const NO_FIELDS = { number: 0, timestamp: 0, stateRoot: `0x${"00".repeat(32)}`, parentHash: `0x${"00".repeat(32)}` };

/** Creates a header with an execution block that has this hash. */
export function simulateHeader(
  network: BeaconNetwork,
  slot: number,
  blockHash: string,
  stateRoot: Uint8Array,
  block: UpdateParts["block"] = NO_FIELDS,
): LightClientHeader {
  const { payload, blockHash: index } = forkAt(network, slot);
  const hash = fromHex(blockHash);
  const header = { slot: uint64(slot), proposer_index: uint64(0), parent_root: ZERO, state_root: stateRoot };
  if (index === undefined) return { beacon: { ...header, body_root: ZERO } };
  const execution = {
    ...{ parent_hash: fromHex(block.parentHash), state_root: fromHex(block.stateRoot) },
    ...{ block_number: uint64(block.number), timestamp: uint64(block.timestamp) },
    ...{ fee_recipient: new Uint8Array(20), receipts_root: ZERO, logs_bloom: new Uint8Array(256), prev_randao: ZERO },
    ...{ gas_limit: uint64(0), gas_used: uint64(0), extra_data: Buffer.from("keyroot test"), base_fee_per_gas: ZERO },
    ...{ block_hash: hash, transactions_root: ZERO, withdrawals_root: ZERO },
    ...{ blob_gas_used: uint64(0), excess_blob_gas: uint64(0) },
  };
  const [leaf, at] = payload === undefined ? [hash, index] : [payload.root(execution), PAYLOAD_INDEX];
  const body = sparseTree(new Map([[at, leaf]]));
  return {
    beacon: { ...header, body_root: body.root },
    ...(payload === undefined ? { execution_block_hash: hash } : { execution }),
    execution_branch: body.branchOf(at),
  };
}

/** Creates a bootstrap for a slot, whose checkpoint is the root of its header. */
export function simulateBootstrap(network: BeaconNetwork, slot: number, blockHash: string): Bootstrap {
  const { committee: current } = committeeOf(periodOf(network, slot));
  const { committee: index } = forkAt(network, slot);
  const state = sparseTree(new Map([[index, COMMITTEE.root(current)]]));
  return {
    header: simulateHeader(network, slot, blockHash, state.root),
    current_sync_committee: current,
    current_sync_committee_branch: state.branchOf(index),
  };
}

/** Creates an update. By default, it is signed by the test committee of its period. */
export function simulateUpdate(network: BeaconNetwork, parts: UpdateParts): Update {
  const { finalizedSlot, attestedSlot, signatureSlot, blockHash, participation = COMMITTEE_SIZE } = parts;
  const { signers = committeeOf(periodOf(network, signatureSlot)), signedFor = network, next = false } = parts;
  const finalized = simulateHeader(network, finalizedSlot, blockHash, ZERO, parts.block);
  const committee = next === true ? committeeOf(periodOf(network, attestedSlot) + 1).committee : next;
  const { finality, nextCommittee } = forkAt(network, attestedSlot);
  const leaves = new Map([[finality, rootOf(finalized)]]);
  if (committee !== false) leaves.set(nextCommittee, COMMITTEE.root(committee));
  const state = sparseTree(leaves);
  const attested = simulateHeader(network, attestedSlot, blockHash, state.root);
  const bits = new Uint8Array(COMMITTEE_SIZE / 8);
  let secret = 0n;
  for (let i = 0; i < participation; i++) {
    bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
    secret += signers.first + BigInt(i);
  }
  const signature = sign(signingRootOf(signedFor, attested, signatureSlot), secret);
  return {
    attested_header: attested,
    ...(committee !== false && {
      next_sync_committee: committee,
      next_sync_committee_branch: state.branchOf(nextCommittee),
    }),
    finalized_header: finalized,
    finality_branch: state.branchOf(finality),
    sync_aggregate: { sync_committee_bits: bits, sync_committee_signature: signature },
    signature_slot: uint64(signatureSlot),
  };
}
