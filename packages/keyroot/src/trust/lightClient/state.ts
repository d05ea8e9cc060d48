import { base64ToBytes, bytesToBase64 } from "../../bytes/base64.ts";
import { sha256Hex } from "../../bytes/sha256.ts";
import { isHash } from "../../ethereum/rpcValues.ts";
import { COMMITTEE, type Committee } from "./forks.ts";
import type { LightClientState } from "./rules.ts";

const FORMAT = "keyroot-beacon-v2";

/** Where a stored state comes from. */
export interface StateOrigin {
  /** The `genesis_validators_root` of the chain: 0x and 64 lowercase hex digits. */
  network: string;
  /** The root of the trusted beacon block: 0x and 64 lowercase hex digits. */
  checkpoint: string;
  /** The maximum age in ms of every header that the light client continued from. */
  maxCheckpointAgeMs: number;
}

/** Writes a light client's state and its origin as text, after a hash that detects damage. */
export function serializeState(state: LightClientState, origin: StateOrigin): string {
  const { current, next, ...header } = state;
  const committees = [current, ...(next === undefined ? [] : [next])];
  const text = JSON.stringify({
    ...{ format: FORMAT, ...origin, header },
    committees: committees.map((committee) => bytesToBase64(COMMITTEE.encode(committee))),
  });
  return `${sha256Hex(text)}${text}`;
}

/**
 * Parses the stored state of a light client.
 * @returns undefined if the state is missing or damaged, if it has a different format, network or checkpoint, or if it
 * was made with a higher maximum age of the checkpoint
 */
export function parseState(stored: unknown, origin: StateOrigin): LightClientState | undefined {
  if (typeof stored !== "string") return undefined;
  const text = stored.slice(64);
  if (sha256Hex(text) !== stored.slice(0, 64)) return undefined;
  try {
    const { format, header, committees, network, checkpoint, maxCheckpointAgeMs } = JSON.parse(text) as Stored;
    const isSame = format === FORMAT && network === origin.network && checkpoint === origin.checkpoint;
    if (!isSame || !(maxCheckpointAgeMs <= origin.maxCheckpointAgeMs)) return undefined;
    const { slot, blockHash, block, participation } = header;
    const [current, next, ...others] = committees.map((one): Committee => COMMITTEE.decode(base64ToBytes(one)));
    const isValid =
      [slot, participation].every((count) => Number.isSafeInteger(count) && count >= 0) &&
      (blockHash === undefined || isHash(blockHash)) &&
      (block === undefined || (block.hash === blockHash && isHash(block.stateRoot))) &&
      others.length === 0;
    return isValid && current ? { slot, blockHash, block, participation, current, next } : undefined;
  } catch {
    // The text has the right hash but contains no state. The light client starts again at the checkpoint.
    return undefined;
  }
}

interface Stored extends StateOrigin {
  format: string;
  header: Omit<LightClientState, "current" | "next">;
  committees: string[];
}
