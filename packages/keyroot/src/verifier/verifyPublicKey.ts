import type { UserID } from "../identity/userID.ts";
import { decodeBlockNumber } from "../registry/calldata.ts";
import type { Evidence } from "../evidence.ts";
import { verifyFile, type VerifiedRecord } from "./verdict.ts";
import { parseKeyQuery, type VerifyOptions } from "./options.ts";
import { openSources } from "./sources.ts";

/** A public key that is published, where, and what that rests on. */
export interface VerifiedKey extends VerifiedRecord {
  /** The root that the contract keeps for the user: 64 hex digits in lower case. */
  root: string;
  /**
   * The block in which the root was added. It is the word of the endpoint, or of the endpoints of the quorum, whatever
   * else the evidence for the root: nothing may depend on it.
   */
  blockNumber: number;
  contract: string;
  chainId: number;
  evidence: Evidence;
}

/**
 * Verifies a user's public key against the root that the contract keeps for that user (specification, "Public-key
 * verification procedure"): reads the root, fetches the root's file, rebuilds its tree, and insists on the one record
 * of this user. Returns only when everything holds; a key must not be used otherwise.
 *
 * What the root rests on is said in `evidence`, and never less than what the options ask for. Where they ask for
 * nothing, it is the word of one endpoint: take one that neither the key's server nor the file host runs.
 * @param userID 32 characters of zBase32 in lower case
 * @throws VerificationError where the key is not verified; `step`, `code`, `expected` and `actual` say why
 * @throws TransportError where endpoint or file host did not answer; nothing is known then
 * @throws ArgumentError where the options are unusable; nothing was asked then
 */
export async function verifyPublicKey(userID: UserID, options: VerifyOptions): Promise<VerifiedKey> {
  const question = parseKeyQuery(userID, options);
  const session = openSources(options);
  try {
    const { root, evidence, askBlockNumber } = await session.findRoot(question);
    const [bytes, answer] = await Promise.all([session.fetchFile(root), askBlockNumber()]);
    const judged = verifyFile(question, root, bytes);
    const { contract, chainId } = question;
    return { ...judged, root, blockNumber: decodeBlockNumber(answer), contract, chainId, evidence };
  } finally {
    session.end();
  }
}
