import { equalBytes } from "@noble/curves/utils.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { bytesToHex, hexToBytes } from "../../bytes/hex.ts";
import { MAX_AHEAD_MS } from "../../ethereum/blockAge.ts";
import type { BlockHeader } from "../../ethereum/header.ts";
import { VerificationError } from "../../errors.ts";
import { isSignedByAllBut } from "./bls.ts";
import {
  type Bootstrap,
  COMMITTEE,
  type Committee,
  COMMITTEE_SIZE,
  type ExecutionHeader,
  type Fork,
  type ForkName,
  FORKS,
  type LightClientHeader,
  PAYLOAD_INDEX,
  rootOf,
  toNumber,
  type Update,
} from "./forks.ts";
import type { BeaconNetwork } from "./networks.ts";
import { hashPair, isValidBranch } from "./ssz.ts";

/**
 * The rules of Ethereum's light clients (consensus-specs, `specs/altair/light-client/sync-protocol.md`, with the
 * changes up to Gloas). The state changes only with a finalized header that two thirds of the sync committee signed.
 * Two parts of the protocol do not meet this rule and are therefore left out: the forced update after a timeout, and
 * the optimistic header.
 *
 * All functions are pure, and throw VerificationError LIGHT_CLIENT_INVALID, step "anchor".
 */

/**
 * The state of a light client: the newest verified finalized header, and the sync committees for its period and the
 * next one.
 */
export interface LightClientState {
  slot: number;
  /** The hash of the header's execution block: 0x and 64 lowercase hex digits. Undefined before Capella. */
  blockHash: string | undefined;
  /** The execution block itself, from Capella to Fulu. */
  block: BlockHeader | undefined;
  /** The number of sync committee members who signed the header, at most 512. 0 for the checkpoint. */
  participation: number;
  /** The sync committee for the period of the header. */
  current: Committee;
  /** The sync committee for the next period. Undefined if it is not known yet. */
  next: Committee | undefined;
}

/** `DOMAIN_SYNC_COMMITTEE` of the consensus specifications. */
const DOMAIN = Uint8Array.of(7, 0, 0, 0);
/** Returns the slot at a given time. @param ms the time in ms since 1970 */
export function slotAt({ genesisTime, secondsPerSlot }: BeaconNetwork, ms: number): number {
  return Math.floor((ms / 1000 - genesisTime) / secondsPerSlot);
}

/**
 * Returns the newest slot whose signatures are accepted. This slot is 2 minutes in the future, because the device's
 * clock may be slow (see also `checkBlockAge`).
 * @param ms the time in ms since 1970
 */
export function latestSlot(network: BeaconNetwork, ms: number): number {
  return slotAt(network, ms + MAX_AHEAD_MS);
}

/** Returns the start time of a slot in ms since 1970. */
export function timeOf({ genesisTime, secondsPerSlot }: BeaconNetwork, slot: number): number {
  return (genesisTime + slot * secondsPerSlot) * 1000;
}

/** Returns a slot's committee period. Each period has one sync committee. */
export function periodOf({ slotsPerEpoch, epochsPerPeriod }: BeaconNetwork, slot: number): number {
  return Math.floor(slot / slotsPerEpoch / epochsPerPeriod);
}

interface ForkOfSlot extends Fork {
  name: string;
  /** The fork version: 0x and 8 hex digits. */
  version: string;
}

/** Returns the name, version and rules of a slot's fork. */
export function forkAt({ forks, slotsPerEpoch }: BeaconNetwork, slot: number): ForkOfSlot {
  let found: ForkOfSlot | undefined;
  for (const [name, rules] of Object.entries(FORKS)) {
    const [version = "", epoch = Infinity] = forks[name as ForkName] ?? [];
    if (epoch <= Math.floor(slot / slotsPerEpoch)) found = { ...rules, name, version };
  }
  if (found === undefined) throw invalid(`the slot ${slot} is before the first fork with light clients`);
  return found;
}

/**
 * Verifies a bootstrap and returns the light client's first state.
 * @param checkpoint the root of a beacon block, 0x and 64 lowercase hex digits
 */
export function startAt(network: BeaconNetwork, checkpoint: string, bootstrap: Bootstrap): LightClientState {
  const { header, current_sync_committee: current, current_sync_committee_branch: branch } = bootstrap;
  const slot = toNumber(header.beacon.slot);
  const root = toHex(rootOf(header));
  if (root !== checkpoint) throw invalid(`the bootstrap is for the block ${root} instead of ${checkpoint}`);
  if (!isValidBranch(COMMITTEE.root(current), branch, forkAt(network, slot).committee, header.beacon.state_root))
    throw invalid("the bootstrap's committee is not in the state of its block");
  return { slot, ...executionOf(network, header), participation: 0, current, next: undefined };
}

/**
 * Verifies an update and returns the light client's next state.
 * @param currentSlot the result of `latestSlot` at the current time
 * @returns undefined if the update contains no new information. Its signature is then not verified.
 * @throws VerificationError FUTURE_BLOCK, LIGHT_CLIENT_INVALID, step "anchor"
 */
export function applyUpdate(
  network: BeaconNetwork,
  state: LightClientState,
  update: Update,
  currentSlot: number,
): LightClientState | undefined {
  const { attested_header: attested, finalized_header: finalized, next_sync_committee: next } = update;
  const attestedSlot = toNumber(attested.beacon.slot);
  const finalizedSlot = toNumber(finalized.beacon.slot);
  const signatureSlot = toNumber(update.signature_slot);
  if (signatureSlot > currentSlot) {
    const limit = new Date(timeOf(network, currentSlot)).toISOString();
    const message = `A beacon endpoint's response was signed in the slot ${signatureSlot}, which is after ${limit}. Check this device's clock. If the clock is right, the response is false.`;
    throw new VerificationError("anchor", "FUTURE_BLOCK", message, { expected: currentSlot, actual: signatureSlot });
  }
  if (signatureSlot <= attestedSlot || attestedSlot < finalizedSlot) throw invalid("its slots are not in order");

  const [period, finalizedPeriod, attestedPeriod, signaturePeriod] = [
    ...[state.slot, finalizedSlot, attestedSlot, signatureSlot].map((slot) => periodOf(network, slot)),
  ] as [number, number, number, number];
  const addsCommittee =
    state.next === undefined && next !== undefined && finalizedPeriod === period && attestedPeriod === period;
  if (finalizedSlot <= state.slot && !addsCommittee) return undefined;
  if (signaturePeriod !== period && (state.next === undefined || signaturePeriod !== period + 1))
    throw invalid(
      `its period is ${signaturePeriod}, but the committee of this period is unknown in the period ${period}`,
    );

  const rules = forkAt(network, attestedSlot);
  const { state_root: stateRoot } = attested.beacon;
  executionOf(network, attested);
  const execution = executionOf(network, finalized);
  if (!isValidBranch(rootOf(finalized), update.finality_branch, rules.finality, stateRoot))
    throw invalid("its finalized header is not in the attested state");
  if (next !== undefined) {
    const root = COMMITTEE.root(next);
    if (!isValidBranch(root, update.next_sync_committee_branch ?? [], rules.nextCommittee, stateRoot))
      throw invalid("its next committee is not in the attested state");
    if (attestedPeriod === period && state.next !== undefined && !equalBytes(root, COMMITTEE.root(state.next)))
      throw invalid("it contradicts the known next committee");
  }
  const signers = (signaturePeriod === period ? undefined : state.next) ?? state.current;
  const participation = verifySignature(network, attested, signatureSlot, update.sync_aggregate, signers);

  const entersNext = finalizedPeriod > period;
  return {
    ...(finalizedSlot > state.slot ? { slot: finalizedSlot, ...execution, participation } : state),
    current: (entersNext ? state.next : undefined) ?? state.current,
    next: entersNext ? next : (state.next ?? next),
  };
}

/** Verifies that a header's beacon block includes the header's execution block, and returns the latter. */
function executionOf(network: BeaconNetwork, header: LightClientHeader): Pick<LightClientState, "blockHash" | "block"> {
  const { payload, blockHash: index } = forkAt(network, toNumber(header.beacon.slot));
  if (index === undefined) return { blockHash: undefined, block: undefined };
  const { execution, execution_block_hash: hash = execution?.block_hash, execution_branch: branch = [] } = header;
  const { body_root: bodyRoot } = header.beacon;
  // The branch begins at the block hash since Gloas, and at the payload header with the hash before Gloas.
  const isValid =
    execution === undefined
      ? hash !== undefined && isValidBranch(hash, branch, index, bodyRoot)
      : payload !== undefined && isValidBranch(payload.root(execution), branch, PAYLOAD_INDEX, bodyRoot);
  if (!isValid || hash === undefined) throw invalid("its header's execution block is not in the beacon block");
  const blockHash = toHex(hash);
  return { blockHash, block: execution && { hash: blockHash, ...fieldsOf(execution) } };
}

function fieldsOf(execution: ExecutionHeader): Omit<BlockHeader, "hash"> {
  return {
    number: toNumber(execution.block_number),
    timestamp: toNumber(execution.timestamp),
    stateRoot: toHex(execution.state_root),
    parentHash: toHex(execution.parent_hash),
  };
}

function toHex(bytes: Uint8Array): string {
  return `0x${bytesToHex(bytes)}`;
}

/** Verifies the signature of a sync committee. @returns the number of members who signed */
function verifySignature(
  network: BeaconNetwork,
  attested: LightClientHeader,
  signatureSlot: number,
  { sync_committee_bits: bits, sync_committee_signature: signature }: Update["sync_aggregate"],
  { pubkeys, aggregate_pubkey: aggregate }: Committee,
): number {
  const absent = pubkeys.filter((_, i) => (((bits[i >> 3] ?? 0) >> (i & 7)) & 1) === 0);
  const participation = COMMITTEE_SIZE - absent.length;
  if (participation * 3 < COMMITTEE_SIZE * 2)
    throw invalid(`only ${participation} of ${COMMITTEE_SIZE} committee members signed, which is less than two thirds`);
  if (!isSignedByAllBut(aggregate, absent, signingRootOf(network, attested, signatureSlot), signature))
    throw invalid("the committee's signature is false");
  return participation;
}

/** Computes the root that a sync committee signs, which covers a header, the network and the previous slot's fork. */
export function signingRootOf(network: BeaconNetwork, header: LightClientHeader, signatureSlot: number): Uint8Array {
  const version = hexToBytes(forkAt(network, signatureSlot - 1).version.slice(2));
  const genesis = hexToBytes(network.genesisValidatorsRoot.slice(2));
  const forkDataRoot = hashPair(concatBytes(version, new Uint8Array(28)), genesis);
  return hashPair(rootOf(header), concatBytes(DOMAIN, forkDataRoot.subarray(0, 28)));
}

function invalid(problem: string): VerificationError {
  const message = `A beacon endpoint's light-client response is false: ${problem}.`;
  return new VerificationError("anchor", "LIGHT_CLIENT_INVALID", message);
}
