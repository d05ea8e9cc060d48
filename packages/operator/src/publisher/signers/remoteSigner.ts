import { getAddress } from "ethers/address";
import { keccak256 } from "ethers/crypto";
import { Transaction } from "ethers/transaction";
import { toQuantity } from "keyroot/internal/ethereum";
import { isObject } from "keyroot/internal/input";
import type { RpcCall } from "keyroot/internal/transport";
import { TransportError } from "../../errors.ts";
import { senderOf, serializeSigned, serializeUnsigned } from "../chain/serializeTransaction.ts";
import { type SignedTransaction, type Signer, toTransaction, type TransactionRequest } from "./signer.ts";

/**
 * A signer in a separate process, such as Web3Signer, Clef or a node, which keeps the key and signs with
 * `eth_signTransaction`. Its response is used only if it is exactly the requested transaction, signed by the expected
 * account.
 * @example
 * ```ts
 * const call = rpcCaller("http://127.0.0.1:9000", { maxBytes: 2 ** 20, timeoutMs: 30_000 });
 * const signer = new RemoteSigner(call, "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
 * ```
 */
export class RemoteSigner implements Signer {
  readonly address: string;
  readonly #call: RpcCall;

  /**
   * @param call sends a JSON-RPC request to the signer, with limits on time and size
   * @param address the account that the signer signs for: 0x and 40 hex digits
   */
  constructor(call: RpcCall, address: string) {
    this.#call = call;
    this.address = getAddress(address);
  }

  /**
   * Requests a signature, and checks the response.
   * @throws TransportError SIGNER_MISMATCH, RPC_ANSWER_INVALID, and the errors of `call`
   */
  async sign(request: TransactionRequest, chainId: number): Promise<SignedTransaction> {
    const params = { ...request, from: this.address, value: "0x0", chainId: toQuantity(chainId) };
    const signed = parseSigned(await this.#call("eth_signTransaction", [params]));
    const expected = toTransaction(request, chainId);
    if (serializeUnsigned(signed) !== serializeUnsigned(expected)) {
      const differing = FIELDS.filter(
        (field) => JSON.stringify(toText(signed[field])) !== JSON.stringify(toText(expected[field])),
      );
      const message = `The signed transaction is not the requested one. It differs in ${differing.join(", ")}. Nothing was sent.`;
      throw new TransportError("SIGNER_MISMATCH", message, { actual: differing.join(", ") });
    }
    const from = senderOf(signed);
    if (from !== this.address) {
      const message = `The signer signed with the key of ${from ?? "no account"}, not of ${this.address}. Nothing was sent. Check the signer's address.`;
      throw new TransportError("SIGNER_MISMATCH", message, { expected: this.address, actual: from });
    }
    const raw = serializeSigned(signed);
    return { raw, hash: keccak256(raw) };
  }
}

/** The signed fields, with the names that ethers uses. */
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

/**
 * Parses the signer's response. Web3Signer and some nodes return the raw transaction itself. Clef and Geth return an
 * object that contains the raw transaction.
 */
function parseSigned(answer: unknown): Transaction {
  const raw = isObject(answer) ? answer["raw"] : answer;
  if (typeof raw === "string" && /^0x(?:[0-9a-f]{2})+$/i.test(raw)) {
    try {
      const transaction = Transaction.from(raw);
      // Accept only the canonical encoding, so that the hash is the same as on the chain.
      if (transaction.isSigned() && serializeSigned(transaction) === raw.toLowerCase()) return transaction;
    } catch {
      // The response is not a transaction. The error is thrown below.
    }
  }
  throw new TransportError(
    "RPC_ANSWER_INVALID",
    "The signer's response is not a signed transaction. Check the signer's URL.",
  );
}

function toText(value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
