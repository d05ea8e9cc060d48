import { decodeBlockNumber } from "../registry/answers.ts";
import { encodeGetBlockNumber } from "../registry/calldata.ts";
import type { RootReading } from "./readRootAtBlock.ts";

/**
 * Reads the number of the block in which a root was added. The number must not be higher than the number of the
 * evidence's block. No proof confirms the number.
 * @throws TransportError RPC_ANSWER_INVALID if the number is too high; and the errors of the call
 */
export async function readBlockOfRoot(
  root: string,
  { evidence: { block }, callContract }: Pick<RootReading, "evidence" | "callContract">,
): Promise<number> {
  return decodeBlockNumber(await callContract(encodeGetBlockNumber(root)), block?.number);
}
