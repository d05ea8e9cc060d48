import { getAddress, Transaction } from "ethers";
import { TransportError } from "keyroot/errors";
import { isObject } from "keyroot/input";
import type { RpcCall } from "keyroot/transport";
import { type SignedTransaction, type Signer, toTransaction, type TransactionRequest } from "./signer.ts";

/**
 * A signer of its own that keeps the key and signs by `eth_signTransaction`: Web3Signer, Clef, a node. What comes back is
 * broadcast only if it is the very transaction that was asked for, signed by the very account.
 */
export class RemoteSigner implements Signer {
  readonly address: string;
  readonly #call: RpcCall;

  /** @param call asks the signer, within limits of time and size @param address of the account that it signs for */
  constructor(call: RpcCall, address: string) {
    this.#call = call;
    this.address = getAddress(address);
  }

  /** @throws TransportError as the call, RPC_ANSWER_INVALID, SIGNER_MISMATCH */
  async sign(request: TransactionRequest, chainId: number): Promise<SignedTransaction> {
    const asked = { ...request, from: this.address, value: "0x0", chainId: `0x${chainId.toString(16)}` };
    const signed = parseSigned(await this.#call("eth_signTransaction", [asked]));
    const expected = toTransaction(request, chainId);
    if (signed.unsignedHash !== expected.unsignedHash) {
      const differing = FIELDS.filter(
        (field) => JSON.stringify(toText(signed[field])) !== JSON.stringify(toText(expected[field])),
      );
      const message = `The signer signed another transaction than it was asked to: it differs in ${differing.join(", ")}. Nothing was sent.`;
      throw new TransportError("SIGNER_MISMATCH", message);
    }
    if (signed.from !== this.address) {
      const message = `The signer signed with the key of ${signed.from ?? "nobody"}, not of ${this.address}. Nothing was sent.`;
      throw new TransportError("SIGNER_MISMATCH", message, { expected: this.address, actual: signed.from });
    }
    return { raw: signed.serialized, hash: signed.hash ?? "" };
  }
}

/** What a signature is about, by ethers' names. */
const FIELDS = [
  "type",
  "chainId",
  "nonce",
  "to",
  "value",
  "data",
  "gasLimit",
  "gasPrice",
  "maxFeePerGas",
  "maxPriorityFeePerGas",
  "accessList",
] as const;

/** Web3Signer and nodes answer a signed transaction, Clef and Geth an object with it. */
function parseSigned(answer: unknown): Transaction {
  const raw = isObject(answer) ? answer["raw"] : answer;
  if (typeof raw === "string" && /^0x(?:[0-9a-f]{2})+$/i.test(raw)) {
    try {
      const transaction = Transaction.from(raw);
      // One transaction has one spelling, and so one hash.
      if (transaction.isSigned() && transaction.serialized === raw.toLowerCase()) return transaction;
    } catch {
      // told below
    }
  }
  throw new TransportError("RPC_ANSWER_INVALID", "The signer's answer is not a signed transaction.");
}

function toText(value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
