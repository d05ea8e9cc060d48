import { getAddress } from "ethers/address";
import { Transaction } from "ethers/transaction";
import type { RpcCall } from "keyroot/internal/transport";
import { ArgumentError, TransportError } from "../../errors.ts";
import { refuseTestAccount } from "./testAccounts.ts";

/**
 * A transaction to sign, in the format of JSON-RPC. Quantities are 0x and hex digits, and addresses are 0x and 40 hex
 * digits.
 */
export interface TransactionRequest {
  from: string;
  /** The address of the called contract. Undefined in a transaction that deploys a contract. */
  to?: string | undefined;
  data: string;
  nonce: string;
  gas: string;
  /**
   * The maximum fee in wei per unit of gas (EIP-1559). Set both `maxFeePerGas` and `maxPriorityFeePerGas`, or neither.
   */
  maxFeePerGas?: string | undefined;
  maxPriorityFeePerGas?: string | undefined;
  /** The gas price in wei per unit of gas, on chains without a base fee. */
  gasPrice?: string | undefined;
  /** The storage slots that the transaction reads or writes (EIP-2930). */
  accessList?: { address: string; storageKeys: string[] }[] | undefined;
}

/** A signed transaction. Repeated broadcasts are safe, because the chain includes a signed transaction at most once. */
export interface SignedTransaction {
  /** The serialized transaction: 0x and lowercase hex digits. */
  raw: string;
  /** Keccak-256 of `raw`: 0x and 64 lowercase hex digits. */
  hash: string;
}

/** Signs transactions with one key. Implementations MUST NOT broadcast signed transactions. */
export interface Signer {
  /** The account of the key: 0x and 40 hex digits with checksum (EIP-55). */
  readonly address: string;
  /**
   * @param request a transaction from this address
   * @param chainId the chain id to sign for (EIP-155)
   */
  sign(request: TransactionRequest, chainId: number): Promise<SignedTransaction>;
}

/**
 * Signs and sends a transaction of the registry's owner. The publisher may call the function again with the same nonce,
 * for example if the first transaction is stuck.
 * @returns the transaction hash: 0x and 64 hex digits
 * @throws TransportError RPC_ERROR with the node's message if the node rejects the transaction
 */
export type SendTransaction = (transaction: TransactionRequest) => Promise<string>;

/** The registry for which `signingSender` signs. */
interface OwnedRegistry {
  /** The id of the chain to sign for (EIP-155), from a source other than the endpoint. */
  chainId: number;
  contract: string;
  owner: string;
}

/**
 * Creates a function that signs the owner's transactions and broadcasts them through the chain's endpoint. Two requests
 * with the same content give the same transaction. The returned hash is computed from the signed bytes, so the endpoint
 * cannot falsify it.
 * @param call sends a JSON-RPC request to the chain's endpoint
 * @returns a function that throws the errors of `signer` and `call`
 * @throws ArgumentError TEST_KEY_REFUSED; NOT_OWNER if the signer's account is not the owner
 * @example
 * ```ts
 * const signer = await openKeyFile("owner.json", { file: "/run/secrets/passphrase" });
 * const { contract, owner } = registry;
 * const send = signingSender(signer, { chainId: 1, contract, owner }, call);
 * await publish(records, { registry, chainId: 1, limits: { maxFeePerGas: 20n * 10n ** 9n }, store, send });
 * ```
 */
export function signingSender(
  signer: Signer,
  { chainId, contract, owner }: OwnedRegistry,
  call: RpcCall,
): SendTransaction {
  refuseTestAccount(signer.address, chainId);
  if (signer.address !== getAddress(owner)) {
    const message = `Only the owner ${owner} can add roots to ${contract}, but the signer's account is ${signer.address}. Use the owner's key, or another --contract.`;
    throw new ArgumentError("NOT_OWNER", message, { expected: owner, actual: signer.address });
  }
  return async (request) => {
    const { raw, hash } = await signer.sign(request, chainId);
    await call("eth_sendRawTransaction", [raw]);
    return hash;
  };
}

/**
 * Returns true if a signer has left out the access list of a request. Some signers do so, such as Web3Signer, because
 * they have no field for it. On a chain without a base fee, the type of the transaction is then different, too.
 * @param error the error of `Signer.sign`
 */
export function omitsAccessList(error: unknown, { accessList }: TransactionRequest): boolean {
  const isMismatch = error instanceof TransportError && error.code === "SIGNER_MISMATCH";
  return isMismatch && accessList !== undefined && ["accessList", "type, accessList"].includes(String(error.actual));
}

/** Converts a request to an unsigned transaction, which transfers no ether. */
export function toTransaction(request: TransactionRequest, chainId: number): Transaction {
  const { to, data, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, gasPrice, accessList } = request;
  const body = { to: to ?? null, data, nonce: Number(nonce), gasLimit: gas, value: 0, chainId };
  if (gasPrice === undefined) {
    const fees = { maxFeePerGas: maxFeePerGas ?? null, maxPriorityFeePerGas: maxPriorityFeePerGas ?? null };
    return Transaction.from({ ...body, type: 2, ...fees, accessList: accessList ?? [] });
  }
  return accessList === undefined
    ? Transaction.from({ ...body, type: 0, gasPrice })
    : Transaction.from({ ...body, type: 1, gasPrice, accessList });
}
