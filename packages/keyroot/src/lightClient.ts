/**
 * The entry `keyroot/light-client`, for verifiers that check blocks with Ethereum's light-client protocol. Pass the
 * result of `lightClient` to a verifier as its `trust` option. The light client's code is loaded at the first
 * verification. The other functions make and verify proofs of blocks.
 */
import { loadModule } from "./engine/loadModule.ts";
import type { BlockProof } from "./trust/lightClient/blockProof.ts";
import type { ProvenBlock } from "./trust/lightClient/source.ts";
import { checkBoolean, checkFunction, checkNames, checkObject, checkSignal, optional } from "./input/options.ts";
import { DEFAULT_LIMITS } from "./transport/limits.ts";
import {
  type BlockProofOptions,
  parseCheckpoint,
  parseConfig,
  type TrustedCheckpoint,
} from "./trust/lightClient/lightClient.ts";

export type { BlockProof } from "./trust/lightClient/blockProof.ts";
export type { ProvenBlock } from "./trust/lightClient/source.ts";
export { BEACON_NETWORKS, type BeaconNetwork, type BeaconNetworkName } from "./trust/lightClient/networks.ts";

export {
  type BlockProofOptions,
  lightClient,
  type LightClientOptions,
  type TrustedCheckpoint,
} from "./trust/lightClient/lightClient.ts";

/**
 * Makes a proof of the newest finalized block. The proof contains all light-client updates since the checkpoint. Anyone
 * who trusts the checkpoint can therefore check it offline with `verifyBlockProof`, and pass the resulting block hash
 * to `pinnedBlock`.
 * @throws VerificationError, TransportError as a verification with `lightClient`
 * @throws ArgumentError ARGUMENT_INVALID
 */
export async function makeBlockProof(options: BlockProofOptions): Promise<ProvenBlock & { proof: BlockProof }> {
  const { chainId, allowHttp, signal, ...settings } = checkObject("The options", options);
  const config = parseConfig(settings, {
    chainId,
    allowHttp: optional(checkBoolean, "The allowHttp option", allowHttp),
  });
  optional(checkSignal, "The signal option", signal);
  const http = { timeoutMs: DEFAULT_LIMITS.timeoutMs, allowHttp, signal };
  return (await loadModule(() => import("./trust/lightClient/blockProof.ts"))).makeBlockProof(config, http);
}

/**
 * Verifies a block proof offline. The proof may come from any source.
 * @param source the received bytes, or the parsed JSON
 * @throws VerificationError BUNDLE_SHAPE, FILE_TOO_LARGE, FILE_NOT_UTF8, or an error of `parseJson`, step "file";
 * CHAIN_ID_MISMATCH, step "root"; CHECKPOINT_TOO_OLD or LIGHT_CLIENT_INVALID, step "anchor"
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const { blockHash } = await verifyBlockProof(proofBytes, { chainId: 1, checkpoint });
 * const query = { userID, chainId: 1, contract, expectedPublicKey, trust: pinnedBlock(blockHash) };
 * const { publicKey } = await verifyBundle(bundleBytes, query);
 */
export async function verifyBlockProof(source: unknown, trusted: TrustedCheckpoint): Promise<ProvenBlock> {
  const names = ["chainId", "checkpoint", "network", "maxCheckpointAgeMs", "now"];
  const { now = Date.now } = checkNames("The options", trusted, names);
  checkFunction("The now option", now);
  const config = parseCheckpoint(trusted);
  return (await loadModule(() => import("./trust/lightClient/blockProof.ts"))).verifyBlockProof(source, config, now);
}
