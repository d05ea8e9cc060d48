import { base64ToBytes, bytesToBase64 } from "../../bytes/base64.ts";
import { sha256Hex } from "../../bytes/platform.ts";
import { COMMITTEE, type Committee } from "./forks.ts";
import type { LightClientState } from "./lightClient.ts";

const FORMAT = "keyroot-beacon-v1";

/** Writes a light client's state as text, with its network, its checkpoint, and a hash that detects damage. */
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
 * @returns undefined if there is no state, if it is damaged, or if it has a different format, network or checkpoint
 */
export function parseState(stored: unknown, network: string, checkpoint: string): LightClientState | undefined {
  if (typeof stored !== "string") return undefined;
  const text = stored.slice(64);
  if (sha256Hex(text) !== stored.slice(0, 64)) return undefined;
  const { format, header, committees, ...place } = JSON.parse(text) as Stored;
  if (format !== FORMAT || place.network !== network || place.checkpoint !== checkpoint) return undefined;
  const [current, next] = committees.map((committee): Committee => COMMITTEE.decode(base64ToBytes(committee)));
  return current && { ...header, blockHash: header.blockHash, current, next };
}

interface Stored {
  format: string;
  network: string;
  checkpoint: string;
  header: Omit<LightClientState, "current" | "next">;
  committees: string[];
}
