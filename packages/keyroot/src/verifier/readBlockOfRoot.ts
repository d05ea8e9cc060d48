import { decodeBlockNumber } from "../registry/answers.ts";
import { encodeGetBlockNumber } from "../registry/calldata.ts";
import type { RootReading } from "./readRootAtBlock.ts";

/**
 * Reads the number of the block in which a root was added. `decodeBlockNumber` compares it with the evidence's block.
 * @throws TransportError RPC_ANSWER_INVALID if this block is later than the block of the evidence; and the errors of
 * the call
 */
export async function readBlockOfRoot(
  root: string,
  { evidence: { block }, callContract }: Pick<RootReading, "evidence" | "callContract">,
): Promise<number> {
  return decodeBlockNumber(await callContract(encodeGetBlockNumber(root)), block?.number);
}
