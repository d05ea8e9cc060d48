import { type BlockOptions, parseBlockOptions } from "./blockOptions.ts";
import { findReportedBlock } from "./oneEndpoint.ts";
import { makeTrust, type Trust } from "./trust.ts";

/**
 * Trusts the endpoint in `rpc` for the block, because it is the app's own node, or a light client such as Helios or
 * Colibri that verifies blocks itself. The library cannot check this, but requires a storage proof of the contract's
 * answer under the block.
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
