import { fetchBlock } from "../ethereum/blocks.ts";
import type { BlockSource } from "./blockSource.ts";

/**
 * Finds the current block of a single endpoint. With the default options, `readRoot` does not need a block and accepts
 * the endpoint's latest answer.
 * @throws VerificationError HEADER_INVALID, HEADER_MISMATCH, step "anchor"; TransportError as the RPC call
 */
export const findEndpointBlock: BlockSource = async ({ calls: [call], tag }) => {
  if (call === undefined) throw new RangeError("There is no endpoint to call.");
  const header = await fetchBlock(call, tag);
  return { hash: header.hash, header, anchor: "endpoint", endpoints: [0] };
};
