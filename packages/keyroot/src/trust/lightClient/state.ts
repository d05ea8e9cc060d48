import { base64ToBytes, bytesToBase64 } from "../../bytes/base64.ts";
import { sha256Hex } from "../../bytes/sha256.ts";
import { isHash } from "../../ethereum/rpcValues.ts";
import { COMMITTEE, type Committee } from "./forks.ts";
import type { LightClientState } from "./rules.ts";

const FORMAT = "keyroot-beacon-v1";

/** Writes a light client's state, network and checkpoint as text, after a hash that detects damage. */
export function serializeState(state: LightClientState, network: string, checkpoint: string): string {
  const { current, next, ...header } = state;
  const committees = [current, ...(next === undefined ? [] : [next])];
  const text = JSON.stringify({
    ...{ format: FORMAT, network, checkpoint, header },
    committees: committees.map((committee) => bytesToBase64(COMMITTEE.encode(committee))),
  });
  return `${sha256Hex(text)}${text}`;
}

/**
 * Reads a stored state of a light client.
 * @returns undefined if the state is missing or damaged, or has a different format, network or checkpoint
 */
export function parseState(stored: unknown, network: string, checkpoint: string): LightClientState | undefined {
  if (typeof stored !== "string") return undefined;
  const text = stored.slice(64);
  if (sha256Hex(text) !== stored.slice(0, 64)) return undefined;
  try {
    const { format, header, committees, ...place } = JSON.parse(text) as Stored;
    if (format !== FORMAT || place.network !== network || place.checkpoint !== checkpoint) return undefined;
    const { slot, blockHash, participation } = header;
    const [current, next, ...others] = committees.map((one): Committee => COMMITTEE.decode(base64ToBytes(one)));
    const isValid =
      [slot, participation].every((count) => Number.isSafeInteger(count) && count >= 0) &&
      (blockHash === undefined || isHash(blockHash)) &&
      others.length === 0;
    return isValid && current ? { slot, blockHash, participation, current, next } : undefined;
  } catch {
    // The text has the right hash but contains no state. The light client starts again at the checkpoint.
    return undefined;
  }
}

interface Stored {
  format: string;
  network: string;
  checkpoint: string;
  header: Omit<LightClientState, "current" | "next">;
  committees: string[];
}
