import { LOWERCASE_HASH } from "../ethereum/rpcValues.ts";
import { checkText } from "../input/options.ts";
import type { FoundBlock } from "./blockSource.ts";
import { makeTrust, type Trust } from "./trust.ts";

/**
 * Trusts a block hash that the app got elsewhere, such as from its own node or from `verifyBlockProof`. A storage proof
 * must confirm the contract's answer at this block.
 * @param hash 0x and 64 lowercase hex digits
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const { publicKey } = await verifyBundle(bundleBytes, { ...query, trust: pinnedBlock(hash) });
 */
export function pinnedBlock(hash: string): Trust {
  checkText("The hash of pinnedBlock", hash, "a hash, 0x and 64 lowercase hex digits", LOWERCASE_HASH);
  const block: FoundBlock = { hash, endpoints: [] };
  return makeTrust("pinned-block", () => ({
    storageProof: true,
    // The block may not be final, so answers at this block are not final either.
    tag: "latest",
    findBlock: () => Promise.resolve(block),
    findInBundle: () => block,
    // Each caller can pin another block.
    accepts: ({ block }) => block?.hash === hash,
  }));
}
