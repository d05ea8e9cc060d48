import { VerificationError } from "../errors.ts";
import type { UserID } from "../identity/userID.ts";
import type { Evidence } from "../evidence.ts";
import type { StrictOptions } from "./compileTimeChecks.ts";
import { parseKeyQuery, VERIFY_OPTIONS, type VerifyOptions } from "./options.ts";
import { readBlockOfRoot } from "./readBlockOfRoot.ts";
import { readRoot } from "./readRoot.ts";
import { noteSuccess, parseVerifierOptions, type VerifierConfig } from "./verifierConfig.ts";
import { type VerifierServers, withServers } from "./servers.ts";
import { verifyFile, type VerifiedRecord, verifyRoot } from "./verdict.ts";

/** A verified public key, the contract in which the key is published, and the evidence. */
export interface VerifiedKey extends VerifiedRecord {
  /** The root that the contract stores for the user, 64 lowercase hex digits. */
  root: string;
  /**
   * The number of the block in which the root was added. Do not rely on this number. The endpoint or the quorum reports
   * this number without proof, even if the root has stronger evidence. The number is at most the number of the
   * evidence's block.
   */
  blockNumber: number;
  contract: string;
  chainId: number;
  evidence: Evidence;
}

/** The options of a single verification. */
export type KeyOptions = Pick<VerifyOptions, "expectedPublicKey" | "knownSince" | "signal">;

/**
 * Verifies a user's public key against the root that the contract stores for the user (docs/specification.md,
 * "Public-key verification procedure"). Reads the root, fetches the root's file, computes the tree again, and requires
 * exactly one record of the user. Returns a key only if all checks succeed. Do not use a key after an error.
 *
 * `evidence` shows how the root was verified. The evidence is never weaker than the options require. By default, the
 * evidence is an unproven answer of one endpoint. Choose an endpoint with a different operator than the key's server
 * and the file host.
 *
 * This function runs the steps one after another: options → servers → evidence → verdict. A step never calls another
 * step.
 * @param userID 32 lowercase characters of zBase32
 * @throws VerificationError if the key is not verified. `step`, `code`, `expected` and `actual` show the reason.
 * @throws TransportError if an endpoint or the file host does not respond. In this case, the key is neither verified
 * nor refuted.
 * @throws ArgumentError if the options are invalid. In this case, no request was sent.
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

/** Verifies a public key as `verifyPublicKey` does, with options that are already checked. */
export async function verifyKey(
  config: VerifierConfig,
  userID: UserID,
  { expectedPublicKey, knownSince, signal }: KeyOptions,
): Promise<VerifiedKey> {
  const { registry, policy, servers, sha256, now } = config;
  const query = parseKeyQuery(registry, userID, expectedPublicKey);
  const verify = async (servers: VerifierServers): Promise<VerifiedKey> => {
    const { contract, chainId } = query;
    const reading = await readRoot(query, policy, servers, now);
    const { answers, evidence } = reading;
    const root = verifyRoot(query, answers, evidence);
    const [bytes, blockNumber] = await Promise.all([servers.fetchFile(root), readBlockOfRoot(root, reading)]);
    const verified = await verifyFile(query, root, bytes, sha256);
    evidence.uniqueness = "checked";
    return { ...verified, root, blockNumber, contract, chainId, evidence };
  };
  try {
    const verified = await withServers(servers, verify, { signal });
    noteSuccess(config);
    return verified;
  } catch (error) {
    if (error instanceof VerificationError) {
      // If the import fails, the advice remains `warn`.
      const loaded = await import("./milderAdvice.ts").catch(() => undefined);
      loaded?.advise(error, config, knownSince);
    }
    throw error;
  }
}
