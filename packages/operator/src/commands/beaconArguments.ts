import type { BeaconOptions } from "keyroot/beacon";
import { ArgumentError } from "keyroot/errors";
import { LOWERCASE_HASH } from "keyroot/ethereum";
import { describeValue } from "keyroot/input";

/** The arguments of a light client. */
interface BeaconArguments {
  beacon?: string | undefined;
  checkpoint?: string | undefined;
  beaconNetwork?: "mainnet" | "sepolia" | "hoodi" | "gnosis" | "test" | undefined;
  maxCheckpointAge?: number | undefined;
}

const DAY_MS = 86_400_000;

/**
 * The option `beacon` of a verifier, with the light client added to the library.
 * @returns undefined without `--beacon`
 * @throws ArgumentError ARGUMENT_INVALID
 */
export async function beaconOptionOf(args: BeaconArguments): Promise<BeaconOptions | undefined> {
  const { beacon, checkpoint, beaconNetwork, maxCheckpointAge } = args;
  if (beacon === undefined) {
    const given = checkpoint ?? beaconNetwork ?? maxCheckpointAge;
    if (given === undefined) return undefined;
    throw new ArgumentError("ARGUMENT_INVALID", "Options of a light client need --beacon URL.");
  }
  await import("keyroot/beacon");
  return {
    urls: beacon.split(","),
    checkpoint: checkCheckpoint(checkpoint),
    // The test network is the default of its chain, and of no other.
    network: beaconNetwork === "test" ? undefined : beaconNetwork,
    maxCheckpointAgeMs: maxCheckpointAge === undefined ? undefined : maxCheckpointAge * DAY_MS,
  };
}

/** @throws ArgumentError ARGUMENT_INVALID */
function checkCheckpoint(checkpoint: string | undefined): string {
  if (checkpoint !== undefined && LOWERCASE_HASH.test(checkpoint)) return checkpoint;
  const message = `--checkpoint must be the root of a beacon block, 0x and 64 lowercase hex digits, but is ${describeValue(checkpoint)}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}
