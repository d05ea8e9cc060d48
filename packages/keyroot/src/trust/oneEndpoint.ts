import { loadModule } from "../engine/loadModule.ts";
import { type BlockOptions, parseBlockOptions } from "./blockOptions.ts";
import type { BlockRequest, FoundBlock } from "./blockSource.ts";
import { makeTrust, type Trust } from "./trust.ts";

/**
 * Trusts the endpoint in `rpc`. Its answers about the chain are not proven. Choose an endpoint that is not run by the
 * same people as the server that returns the keys or the file host.
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const trust = oneEndpoint({ block: "finalized" });
 */
export function oneEndpoint(options: BlockOptions = {}): Trust {
  const block = parseBlockOptions("oneEndpoint", options);
  return makeTrust("one-endpoint", () => ({
    ...block,
    storageProof: false,
    findBlock: findReportedBlock,
    accepts: (_, agreeing) => agreeing > 0,
  }));
}

/** Finds the block that a single endpoint reports. */
export async function findReportedBlock({ calls: [call], tag }: BlockRequest): Promise<FoundBlock> {
  if (call === undefined) throw new RangeError("There is no endpoint to call.");
  const { fetchBlock } = await loadModule(() => import("../ethereum/blocks.ts"));
  const header = await fetchBlock(call, tag);
  return { hash: header.hash, header, endpoints: [0] };
}
