import { byteList, byteVector, container, malformed, readUint64, type SszType, uint, vector } from "./ssz.ts";

/**
 * The differences between the forks of the consensus layer, in one table. The slot of a header determines its fork,
 * because the fork name in a response is not authenticated. The sources are consensus-specs,
 * `specs/<fork>/light-client/sync-protocol.md` and `specs/<fork>/beacon-chain.md`.
 */

/** The number of members in a sync committee (`SYNC_COMMITTEE_SIZE`), which is the same in all known networks. */
export const COMMITTEE_SIZE = 512;

const ROOT = byteVector(32);
const UINT64 = uint(8);
const PUBLIC_KEY = byteVector(48);

interface BeaconBlockHeader {
  slot: Uint8Array;
  proposer_index: Uint8Array;
  parent_root: Uint8Array;
  state_root: Uint8Array;
  body_root: Uint8Array;
}

/** A `SyncCommittee`, which has 512 public keys and their sum. */
export interface Committee {
  pubkeys: Uint8Array[];
  aggregate_pubkey: Uint8Array;
}

const BEACON_HEADER: SszType<BeaconBlockHeader> = container({
  slot: UINT64,
  proposer_index: UINT64,
  parent_root: ROOT,
  state_root: ROOT,
  body_root: ROOT,
});

export const COMMITTEE: SszType<Committee> = container({
  pubkeys: vector(PUBLIC_KEY, COMMITTEE_SIZE),
  aggregate_pubkey: PUBLIC_KEY,
});

const CAPELLA_PAYLOAD = {
  parent_hash: ROOT,
  fee_recipient: byteVector(20),
  state_root: ROOT,
  receipts_root: ROOT,
  logs_bloom: byteVector(256),
  prev_randao: ROOT,
  block_number: UINT64,
  gas_limit: UINT64,
  gas_used: UINT64,
  timestamp: UINT64,
  extra_data: byteList(),
  base_fee_per_gas: uint(32),
  block_hash: ROOT,
  transactions_root: ROOT,
  withdrawals_root: ROOT,
};
const DENEB_PAYLOAD = { ...CAPELLA_PAYLOAD, blob_gas_used: UINT64, excess_blob_gas: UINT64 };

/** The used fields of an `ExecutionPayloadHeader`. */
export interface ExecutionHeader {
  block_hash: Uint8Array;
  block_number: Uint8Array;
  timestamp: Uint8Array;
  state_root: Uint8Array;
  parent_hash: Uint8Array;
}

/** A `LightClientHeader` of any fork. */
export interface LightClientHeader {
  beacon: BeaconBlockHeader;
  /** The execution header, from Capella to Fulu. */
  execution?: ExecutionHeader;
  /** The hash of the execution block, from Gloas on. */
  execution_block_hash?: Uint8Array;
  /** The proof that the beacon block includes the execution block, from Capella on. */
  execution_branch?: Uint8Array[];
}

/** A `LightClientBootstrap`, which contains the first state of a light client. */
export interface Bootstrap {
  header: LightClientHeader;
  current_sync_committee: Committee;
  current_sync_committee_branch: Uint8Array[];
}

/** A `LightClientFinalityUpdate` or a `LightClientUpdate`. Only a `LightClientUpdate` contains the next committee. */
export interface Update {
  attested_header: LightClientHeader;
  next_sync_committee?: Committee;
  next_sync_committee_branch?: Uint8Array[];
  finalized_header: LightClientHeader;
  finality_branch: Uint8Array[];
  sync_aggregate: { sync_committee_bits: Uint8Array; sync_committee_signature: Uint8Array };
  signature_slot: Uint8Array;
}

/** The SSZ types of the containers that endpoints return. */
export interface Layouts {
  bootstrap: SszType<Bootstrap>;
  update: SszType<Update>;
  finality_update: SszType<Update>;
}

export interface Fork {
  /** The generalized indices of the two committees and the finalized block's root in the state tree. */
  committee: number;
  nextCommittee: number;
  finality: number;
  /**
   * The SSZ type of the execution payload's header. Undefined before Capella, because light-client headers then have no
   * payload header.
   */
  payload?: SszType<ExecutionHeader>;
  /** The generalized index of the execution block's hash in the body of a beacon block. */
  blockHash?: number;
  layouts: Layouts;
}

/** The generalized index of the execution payload in the body of a beacon block, from Capella to Fulu. */
export const PAYLOAD_INDEX = 25;

const depthOf = (index: number) => Math.floor(Math.log2(index));
const branchOf = (index: number) => vector(ROOT, depthOf(index));

/** Makes the layouts of a fork's containers. @param header the SSZ type of `LightClientHeader` */
function makeFork(
  indices: Pick<Fork, "committee" | "nextCommittee" | "finality">,
  header: SszType<LightClientHeader>,
  execution: Pick<Fork, "payload" | "blockHash"> = {},
): Fork {
  const finality = {
    finalized_header: header,
    finality_branch: branchOf(indices.finality),
    sync_aggregate: container({
      sync_committee_bits: byteVector(COMMITTEE_SIZE / 8),
      sync_committee_signature: byteVector(96),
    }),
    signature_slot: UINT64,
  };
  const layouts = {
    bootstrap: container({
      header,
      current_sync_committee: COMMITTEE,
      current_sync_committee_branch: branchOf(indices.committee),
    }),
    update: container({
      attested_header: header,
      next_sync_committee: COMMITTEE,
      next_sync_committee_branch: branchOf(indices.nextCommittee),
      ...finality,
    }),
    finality_update: container({ attested_header: header, ...finality }),
  };
  return { ...indices, ...execution, layouts };
}

const ALTAIR_INDICES = { committee: 54, nextCommittee: 55, finality: 105 };
const ELECTRA_INDICES = { committee: 86, nextCommittee: 87, finality: 169 };
const GLOAS_INDICES = { committee: 2945, nextCommittee: 2946, finality: 735 };
const GLOAS_BLOCK_HASH = 2856;

const headerWith = (execution: SszType<ExecutionHeader>) =>
  container({ beacon: BEACON_HEADER, execution, execution_branch: branchOf(PAYLOAD_INDEX) });
const capella = { payload: container(CAPELLA_PAYLOAD), blockHash: 412 };
const deneb = { payload: container(DENEB_PAYLOAD), blockHash: 812 };
const gloasHeader = container({
  beacon: BEACON_HEADER,
  execution_block_hash: ROOT,
  execution_branch: branchOf(GLOAS_BLOCK_HASH),
});

const altairFork = makeFork(ALTAIR_INDICES, container({ beacon: BEACON_HEADER }));
const electraFork = makeFork(ELECTRA_INDICES, headerWith(deneb.payload), deneb);

/** The forks with light clients, from oldest to newest. */
export const FORKS = {
  altair: altairFork,
  bellatrix: altairFork,
  capella: makeFork(ALTAIR_INDICES, headerWith(capella.payload), capella),
  deneb: makeFork(ALTAIR_INDICES, headerWith(deneb.payload), deneb),
  electra: electraFork,
  fulu: electraFork,
  gloas: makeFork(GLOAS_INDICES, gloasHeader, { blockHash: GLOAS_BLOCK_HASH }),
} as const satisfies Record<string, Fork>;

/** The name of a fork that has light clients. */
export type ForkName = keyof typeof FORKS;

/** Computes the root of a beacon header, which is also the root of the header's block. */
export function rootOf({ beacon }: LightClientHeader): Uint8Array {
  return BEACON_HEADER.root(beacon);
}

/** Converts 8 little-endian bytes, such as a slot or a time, to a number. */
export function toNumber(uint64: Uint8Array): number {
  const number = readUint64(uint64);
  if (Number.isSafeInteger(number)) return number;
  throw malformed(`the number ${number} is too large`);
}
