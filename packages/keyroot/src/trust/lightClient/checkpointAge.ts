import { VerificationError } from "../../errors.ts";
import { type LightClientState, timeOf } from "./rules.ts";
import type { BeaconNetwork } from "./networks.ts";

/** The checked options of a trusted checkpoint. */
export interface CheckpointConfig {
  network: BeaconNetwork;
  /** The root of the trusted beacon block: 0x and 64 lowercase hex digits. */
  checkpoint: string;
  maxCheckpointAgeMs: number;
  /** Returns the current time in ms since 1970. */
  now: () => number;
}

/**
 * Checks whether a state is too old. Old states are not safe, because former committee members could sell their keys.
 */
export function isTooOld({ network, maxCheckpointAgeMs, now }: CheckpointConfig, { slot }: LightClientState) {
  return now() - timeOf(network, slot) > maxCheckpointAgeMs;
}

/** Rejects a state that is too old. @throws VerificationError CHECKPOINT_TOO_OLD, step "anchor" */
export function checkAge(config: CheckpointConfig, state: LightClientState): void {
  if (!isTooOld(config, state)) return;
  const { checkpoint, maxCheckpointAgeMs: expected, network } = config;
  const time = new Date(timeOf(network, state.slot)).toISOString();
  const clock = new Date(config.now()).toISOString();
  const message = `The checkpoint ${checkpoint} is from ${time}, and this device's clock shows ${clock}. The maximum age is ${expected / 86_400_000} days. Check the clock. If it is right, use a newer checkpoint from a source that you trust, or increase maxCheckpointAgeMs.`;
  throw new VerificationError("anchor", "CHECKPOINT_TOO_OLD", message, { expected, actual: time });
}
