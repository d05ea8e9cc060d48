import { isHash } from "keyroot/internal/ethereum";
import { TransportError } from "../../errors.ts";
import { nodeAnswerTo } from "../../rpc/nodeAnswers.ts";
import type { SendTransaction, TransactionRequest } from "../signers/signer.ts";

/** A node's response to a transaction. */
export interface SendResult {
  /** True if the node's response confirms that it has the transaction. */
  accepted: boolean;
  /** The transaction hash that the node returned. Undefined if the node returned no valid hash. */
  hash?: string;
  /** Why the node does not have the transaction, and what the user can do about it. It has no period at the end. */
  problem?: string;
  /** True if the node has rejected the transaction for now, false if its response is unknown. */
  isRejected: boolean;
  /** True if the node has rejected the transaction because it offers too little. */
  isUnderpriced: boolean;
}

const ACCEPTED: SendResult = { accepted: true, isRejected: false, isUnderpriced: false };

/**
 * Sends a transaction to a node, and reacts to its errors as the table `SEND_ANSWERS` determines. An unclear response
 * is not an error, because later reads of the chain show whether the node has the transaction.
 * @param hasPending true if other transactions of the sender are pending. Missing funds are then not treated as an
 *   error, because pending transactions reserve more than they will cost
 * @throws the error of `send`, with the remedy, if the node rejects the transaction permanently. If the sender cannot
 *   pay, the error names the sender
 */
export async function trySend(
  send: SendTransaction,
  transaction: TransactionRequest,
  hasPending = false,
): Promise<SendResult> {
  try {
    const hash: unknown = await send(transaction);
    return isHash(hash) ? { ...ACCEPTED, hash } : { ...ACCEPTED, accepted: false };
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const { reaction, means, remedy } = nodeAnswerTo(error, "eth_sendRawTransaction");
    if (reaction === "known") return ACCEPTED;
    const needsFunds = means === "no funds";
    const problem = withRemedy(needsFunds ? fundsRemedy(transaction.from) : remedy, error);
    if (reaction === "end" && !(needsFunds && hasPending)) {
      const { actual, status, reason } = error;
      throw problem === error.message
        ? error
        : new TransportError("RPC_ERROR", problem, { actual, status, reason, cause: error });
    }
    const isRejected = error.code === "RPC_ERROR";
    return { accepted: false, problem: problem.replace(/\.$/, ""), isRejected, isUnderpriced: means === "fee too low" };
  }
}

function withRemedy(remedy: string | undefined, { message }: TransportError): string {
  return remedy === undefined ? message : `${message} ${remedy}`;
}

function fundsRemedy(from: string): string {
  return `The account ${from} has too little ETH for the transaction. Send ETH to this account, and run the command again.`;
}
