import { VerificationError } from "../errors.ts";
import type { Evidence } from "../evidence.ts";
import type { UserID } from "../identity/userID.ts";
import { type KeyOptions, parseKeyQuery } from "./options.ts";
import { readBlockOfRoot } from "./readBlockOfRoot.ts";
import { readRoot } from "./readRoot.ts";
import { type VerifierServers, withServers } from "./servers.ts";
import { noteSuccess, type VerifierConfig } from "./verifierConfig.ts";
import { verifyFile, type VerifiedRecord, verifyRoot } from "./verdict.ts";

/** A verified public key, the contract in which the key is published, and the evidence. */
export interface VerifiedKey extends VerifiedRecord {
  /** The root that the contract stores for the user, 64 lowercase hex digits. */
  root: string;
  /**
   * The number of the block in which the root was added. Do not rely on it: the endpoints report it without proof, even
   * if the root has stronger evidence. It is at most the number of the evidence's block.
   */
  blockNumber: number;
  contract: string;
  chainId: number;
  evidence: Evidence;
}

/**
 * Verifies a public key as `Verifier.verify` describes. Runs the steps one after another: servers → evidence → verdict. A
 * step never calls another step.
 */
export async function verifyKey(
  config: VerifierConfig,
  userID: UserID,
  { expectedPublicKey, knownSince, signal }: KeyOptions,
): Promise<VerifiedKey> {
  const { registry, source, servers, now } = config;
  const query = parseKeyQuery(registry, userID, expectedPublicKey);
  const verify = async (servers: VerifierServers): Promise<VerifiedKey> => {
    const { contract, chainId } = query;
    const reading = await readRoot(query, source, servers, now);
    const { answers, evidence } = reading;
    const root = verifyRoot(query, answers, evidence);
    const blockNumber = readBlockOfRoot(root, reading);
    // The verdict about the file comes first: a missing block number must not hide a false key.
    blockNumber.catch(() => undefined);
    const verified = await verifyFile(query, root, await servers.fetchFile(root));
    evidence.uniqueness = "checked";
    return { ...verified, root, blockNumber: await blockNumber, contract, chainId, evidence };
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
