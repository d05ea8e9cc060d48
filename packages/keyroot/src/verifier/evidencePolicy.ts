import { type AddedSource, makeSource } from "../blocks/addedSources.ts";
import { checkBoolean, checkInteger, invalidArgument } from "../input/options.ts";
import { checkHash, checkOnlyOne, parseUsersSlot, type VerifyOptions } from "./options.ts";

/**
 * The evidence that the options require. `readRoot`, `readRootAtBlock` and, for cached keys, `meetsPolicy` enforce this
 * policy.
 */
export interface EvidencePolicy {
  /** The source of the block hash. `quorum` is the number of endpoints that must agree. `pinned` is the hash itself. */
  anchor: "endpoint" | "light-client" | { quorum: number } | { pinned: string } | { added: AddedSource };
  storageProof: boolean;
  /** The block at which the contract is read, unless a block is pinned. */
  tag: "latest" | "safe" | "finalized";
  /** Maximum age of the block in ms. */
  maxAgeMs: number | undefined;
  /** The storage slot of the contract's mapping from users to roots. */
  usersSlot: number;
}

const TAGS: readonly unknown[] = ["latest", "safe", "finalized"];

/** Returns the evidence that the options require. @throws ArgumentError ARGUMENT_INVALID */
export function parseEvidencePolicy(
  options: Partial<VerifyOptions> & Pick<VerifyOptions, "chainId" | "contract">,
): EvidencePolicy {
  const { quorum, pinned, lightClient = false, auditors, beacon } = options;
  const { storageProof = false, maxAgeMs } = options;
  checkBoolean("The lightClient option", lightClient);
  checkBoolean("The storageProof option", storageProof);
  checkOnlyOne(options, ["quorum", "pinned", "lightClient", "auditors", "beacon"]);
  checkOnlyOne(options, ["block", "pinned", "auditors", "beacon"]);
  checkHash("The pinned option", pinned);
  const given = auditors ?? beacon;
  const added = given === undefined ? given : makeSource(auditors ? "auditors" : "beacon", given, options);
  const { block: tag = added ? "finalized" : "latest" } = options;
  if (!TAGS.includes(tag)) throw invalidArgument("The block option", "latest, safe or finalized", tag);
  if (maxAgeMs !== undefined) checkInteger("The maxAgeMs option", maxAgeMs, 0);
  const usersSlot = parseUsersSlot(options.usersSlot);
  const anchor = added
    ? { added }
    : quorum !== undefined
      ? { quorum }
      : pinned !== undefined
        ? { pinned }
        : lightClient
          ? "light-client"
          : "endpoint";
  // Auditors and sync committees sign blocks. Only a storage proof connects a block to the contract's answer.
  return { anchor, storageProof: storageProof || !!added, tag, maxAgeMs, usersSlot };
}
