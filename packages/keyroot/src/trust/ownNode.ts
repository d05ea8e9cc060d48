import { type BlockOptions, parseBlockOptions } from "./blockOptions.ts";
import { findReportedBlock } from "./oneEndpoint.ts";
import { makeTrust, type Trust } from "./trust.ts";

/**
 * Trusts the block of the endpoint in `rpc`. Use it only for the app's own node, or for a light client such as Helios
 * or Colibri that verifies blocks itself. The library cannot check what kind of endpoint it is. A storage proof must
 * confirm the contract's answer at the block.
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const trust = ownNode();
 */
export function ownNode(options: BlockOptions = {}): Trust {
  const block = parseBlockOptions("ownNode", options);
  return makeTrust("own-node", () => ({
    ...block,
    storageProof: true,
    findBlock: findReportedBlock,
    accepts: (_, agreeing) => agreeing > 0,
  }));
}
