/**
 * The entry `keyroot/beacon`, which adds Ethereum's light client to all verifiers. Import this entry, and set the
 * `beacon` option. The light client's code is loaded at the first verification.
 */
import type { BlockProof, ProvenBlock } from "./blocks/beacon/blockProof.ts";
import type { BlockProofOptions, TrustedCheckpoint } from "./blocks/beacon/options.ts";
import { checkNames, checkObject } from "./input/options.ts";
import { DEFAULT_LIMITS } from "./transport/limits.ts";
import { addSource } from "./blocks/addedSources.ts";
import { makeBeaconSource, parseBeaconOptions, parseCheckpoint } from "./blocks/beacon/register.ts";

export type { BlockProof, ProvenBlock } from "./blocks/beacon/blockProof.ts";
export type { BeaconOptions, BlockProofOptions, TrustedCheckpoint } from "./blocks/beacon/options.ts";
export { BEACON_NETWORKS, type BeaconNetwork, type BeaconNetworkName } from "./blocks/beacon/networks.ts";

addSource("beacon", makeBeaconSource);

/**
 * Makes a proof of the newest finalized block. The proof contains all light-client updates since the checkpoint.
 * `verifyBlockProof` verifies the proof offline and returns the block's hash. Pass this hash to `verifyBundle` as
 * `pinned`.
 * @throws the VerificationError and TransportError codes of a verification with the `beacon` option; ArgumentError
 * ARGUMENT_INVALID
 */
export async function makeBlockProof(options: BlockProofOptions): Promise<ProvenBlock & { proof: BlockProof }> {
  const { chainId, allowHttp, signal, ...beacon } = checkObject("The options", options);
  const config = parseBeaconOptions(beacon, { chainId, allowHttp });
  const http = { timeoutMs: DEFAULT_LIMITS.timeoutMs, allowHttp, signal };
  return (await import("./blocks/beacon/blockProof.ts")).makeBlockProof(config, http);
}

/**
 * Verifies a block proof offline. The proof may come from any source.
 * @param source the received bytes, or the parsed JSON
 * @throws VerificationError BUNDLE_SHAPE, FILE_TOO_LARGE, FILE_NOT_UTF8, and the errors of `parseJson`, step "file";
 * CHAIN_ID_MISMATCH, step "root"; CHECKPOINT_TOO_OLD, LIGHT_CLIENT_INVALID, step "anchor"
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const { blockHash: pinned } = await verifyBlockProof(proofBytes, { chainId: 1, checkpoint });
 * const { publicKey } = await verifyBundle(bundleBytes, { userID, chainId: 1, contract, expectedPublicKey }, { pinned });
 */
export async function verifyBlockProof(source: unknown, trusted: TrustedCheckpoint): Promise<ProvenBlock> {
  const { chainId, now = Date.now } = checkObject("The options", trusted);
  checkNames("The options", trusted, ["chainId", "checkpoint", "network", "maxCheckpointAgeMs", "now"]);
  const config = parseCheckpoint("", trusted, chainId);
  return (await import("./blocks/beacon/blockProof.ts")).verifyBlockProof(source, config, now);
}
