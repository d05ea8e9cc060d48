import { loadModule } from "../engine/loadModule.ts";
import { VerificationError } from "../errors.ts";
import type { Contact } from "./contacts.ts";
import { checkAccountOption, parseKeyQuery } from "./options.ts";
import { readBlockOfRoot, readRoot } from "./readRoot.ts";
import { type VerifierServers, withServers } from "./servers.ts";
import type { VerifiedKey } from "./verifiedKey.ts";
import { noteSuccess, type VerifierConfig } from "./verifierConfig.ts";
import { verifyFile, verifyRoot } from "./verdict.ts";

/**
 * Verifies a public key as `Verifier.verify` describes, for verifiers without a cache and without accounts. It calls
 * three parts that are independent of each other, in this order: servers, evidence, verdict.
 */
export async function verifyKey(
  config: VerifierConfig,
  { userID, expectedPublicKey, account, knownSince }: Contact,
  signal: AbortSignal | undefined,
): Promise<VerifiedKey> {
  const { registry, source, servers, now } = config;
  const query = parseKeyQuery(registry, userID, expectedPublicKey);
  checkAccountOption(config, account);
  const verify = async (servers: VerifierServers): Promise<VerifiedKey> => {
    const { contract, chainId } = query;
    const reading = await readRoot(query, source, servers, now, servers.fetchFile);
    const { answers, evidence } = reading;
    const root = verifyRoot(query, answers, evidence);
    const blockNumber = readBlockOfRoot(root, reading);
    // The verdict about the file comes first, because a missing block number must not hide a false key.
    blockNumber.catch(() => undefined);
    const verified = await verifyFile(query, root, await (reading.file ?? servers.fetchFile(root)));
    evidence.uniqueness = "checked";
    return { ...verified, root, blockNumber: await blockNumber, contract, chainId, evidence };
  };
  try {
    const verified = await withServers(servers, verify, { signal });
    noteSuccess(config);
    return verified;
  } catch (error) {
    if (error instanceof VerificationError) {
      // If the import fails, the advice is still `warn`.
      const loaded = await loadModule(() => import("./milderAdvice.ts")).catch(() => undefined);
      loaded?.advise(error, config, knownSince);
    }
    throw error;
  }
}
