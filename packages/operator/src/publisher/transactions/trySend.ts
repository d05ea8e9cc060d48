import { isHash } from "keyroot/internal/ethereum";
import { TransportError } from "../../errors.ts";
import { isTransient } from "../../http/retry.ts";
import type { SendTransaction, TransactionRequest } from "../signers/signer.ts";

/** Error messages of nodes that already have the transaction, or another transaction with the same nonce. */
const ALREADY_KNOWN =
  /already known|known transaction|already imported|already exists|replacement transaction underpriced/i;
/** Error messages about a nonce, a fee or a full pool. Later reads of the chain show the result of the transaction. */
const NONCE_OR_FEE = /nonce|underpriced|base fee|fee cap|pool is full/i;
/** Messages of nodes (Geth, Anvil, Hardhat, Nethermind, Besu) if the sender cannot pay for the transaction. */
const TOO_POOR = /insufficient ?(?:funds|balance)|enough (?:funds|balance)|exceeds account balance/i;

/** A node's response to a transaction. */
export interface SendResult {
  /** True if the node's response confirms that the node has the transaction. */
  accepted: boolean;
  /** The transaction hash that the node returned. Undefined if the node returned no valid hash. */
  hash?: string;
  /** The reason why there was no clear response, without a period. */
  problem?: string;
}

/**
 * Sends a transaction to a node. An unclear response is not an error, because later reads of the chain show whether the node
 * has the transaction.
 * @throws the error of `send` if the node rejects the transaction permanently; if the sender cannot pay, an error with the
 * same code that names the sender
 */
export async function trySend(send: SendTransaction, transaction: TransactionRequest): Promise<SendResult> {
  try {
    const hash: unknown = await send(transaction);
    return isHash(hash) ? { accepted: true, hash } : { accepted: false };
  } catch (error) {
    const message = error instanceof TransportError && error.code === "RPC_ERROR" ? error.message : "";
    if (ALREADY_KNOWN.test(message)) return { accepted: true };
    if (TOO_POOR.test(message)) throw cannotPay(transaction.from, error as TransportError);
    if (NONCE_OR_FEE.test(message)) return { accepted: false };
    if (isTransient(error)) return { accepted: false, problem: error.message.replace(/\.$/, "") };
    throw error;
  }
}

/** The error for a sender without enough ETH. @param from 0x and 40 hex digits @param cause the node's error */
function cannotPay(from: string, cause: TransportError): TransportError {
  const { message: reason, actual } = cause;
  const message = `The account ${from} has too little ETH for the transaction. Send ETH to this account, and run the command again. The endpoint's message: ${reason}`;
  return new TransportError("RPC_ERROR", message, { actual, cause });
}
