import { decodeBlockNumber } from "../registry/answers.ts";
import { encodeGetBlockNumber } from "../registry/calldata.ts";
import type { RootReading } from "./readRootAtBlock.ts";

/**
 * Reads the number of the block in which a root was added. No proof confirms the number, but it must not be higher than
 * that of the evidence's block.
 * @throws TransportError RPC_ANSWER_INVALID if the number is too high, or an error of the call
 */
export async function readBlockOfRoot(
  root: string,
  { evidence: { block }, callContract }: Pick<RootReading, "evidence" | "callContract">,
): Promise<number> {
  return decodeBlockNumber(await callContract(encodeGetBlockNumber(root)), block?.number);
}
