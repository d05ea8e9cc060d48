import { VerificationError } from "../errors.ts";
import type { UserID } from "../identity/userID.ts";
import type { Evidence } from "../evidence.ts";
import { decodeBlockNumber } from "../registry/answers.ts";
import { encodeGetBlockNumber } from "../registry/calldata.ts";
import type { StrictOptions } from "./strictOptions.ts";
import { parseKeyQuery, VERIFY_OPTIONS, type VerifyOptions } from "./options.ts";
import { readRoot } from "./readRoot.ts";
import { noteSuccess } from "./success.ts";
import { parseVerifierOptions, type VerifierConfig } from "./verifierConfig.ts";
import { type VerifierSources, withSources } from "./sources.ts";
import { verifyFile, type VerifiedRecord, verifyRoot } from "./verdict.ts";

/** A published public key, where it is published, and the evidence for it. */
export interface VerifiedKey extends VerifiedRecord {
  /** The root that the contract has for the user: 64 lowercase hex digits. */
  root: string;
  /**
   * The block in which the root was added. It is an unproven answer of the endpoint or the quorum, even if
   * the evidence for the root is stronger: do not rely on it. It is never above the block of the evidence.
   */
  blockNumber: number;
  contract: string;
  chainId: number;
  evidence: Evidence;
}

/** The options of one verification. */
export type KeyOptions = Pick<VerifyOptions, "expectedPublicKey" | "knownSince" | "signal">;

/**
 * Verifies a user's public key against the root that the contract has for the user (docs/specification.md, "Public-key
 * verification procedure"): reads the root, fetches the root's file, rebuilds its tree, and requires exactly one record
 * of the user. Returns only if all of this succeeds. Do not use a key after an error.
 *
 * `evidence` states what the root rests on, which is never less than the options require. By default it is one endpoint's
 * unproven answer: choose one that neither the server of the key nor the file host operates.
 *
 * The steps are called from here, and none of them calls another: options → sources → evidence → verdict.
 * @param userID 32 lowercase characters of zBase32
 * @throws VerificationError if the key is not verified; `step`, `code`, `expected` and `actual` state why
 * @throws TransportError if an endpoint or the file host does not answer: the key is neither verified nor refuted
 * @throws ArgumentError if the options are invalid; no request was sent
 * @example
 * const { publicKey } = await verifyPublicKey(userID, {
 *   rpc: "https://rpc.example",
 *   chainId: 1,
 *   contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
 *   merkleUrl: "https://files.example",
 *   expectedPublicKey: keyFromServer,
 * });
 */
export async function verifyPublicKey<const Options extends VerifyOptions>(
  userID: UserID,
  options: Options & StrictOptions<Options, VerifyOptions>,
): Promise<VerifiedKey> {
  return verifyKey(parseVerifierOptions(options, VERIFY_OPTIONS), userID, options);
}

/** Does the same as `verifyPublicKey`, with checked options. */
export async function verifyKey(
  config: VerifierConfig,
  userID: UserID,
  { expectedPublicKey, knownSince, signal }: KeyOptions,
): Promise<VerifiedKey> {
  const { registry, policy, sources, now } = config;
  const query = parseKeyQuery(registry, userID, expectedPublicKey);
  const verify = async (sources: VerifierSources): Promise<VerifiedKey> => {
    const { contract, chainId } = query;
    const proven = await policy.proveKey?.(query, sources, now);
    if (proven) return { ...proven, contract, chainId };
    const { answers, evidence, callContract } = await readRoot(query, policy, sources, now);
    const root = verifyRoot(query, answers, evidence);
    const [bytes, block] = await Promise.all([sources.fetchFile(root), callContract(encodeGetBlockNumber(root))]);
    const verified = verifyFile(query, root, bytes);
    evidence.uniqueness = "checked";
    const blockNumber = decodeBlockNumber(block, evidence.block?.number);
    return { ...verified, root, blockNumber, contract, chainId, evidence };
  };
  try {
    const verified = await withSources(sources, verify, { signal });
    noteSuccess(config);
    return verified;
  } catch (error) {
    if (error instanceof VerificationError) {
      // If this code cannot be loaded, the advice remains `warn`.
      const loaded = await import("./advice.ts").catch(() => undefined);
      loaded?.advise(error, config, knownSince);
    }
    throw error;
  }
}
