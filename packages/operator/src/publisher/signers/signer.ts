import { getAddress, Transaction } from "ethers";
import { ArgumentError } from "keyroot/errors";
import type { RpcCall } from "keyroot/transport";

/** A transaction to sign, as JSON-RPC writes it: quantities in hex, addresses with 0x. */
export interface TransactionRequest {
  from: string;
  to: string;
  data: string;
  nonce: string;
  /** The most gas that it may use. */
  gas: string;
  /** In wei a unit of gas (EIP-1559), both or neither. */
  maxFeePerGas?: string | undefined;
  maxPriorityFeePerGas?: string | undefined;
  /** In wei a unit of gas, on chains without a base fee. */
  gasPrice?: string | undefined;
  /** The storage slots that it touches (EIP-2930). */
  accessList?: { address: string; storageKeys: string[] }[] | undefined;
}

/** A transaction that any endpoint may broadcast, as often as it likes: it can be in a block once. */
export interface SignedTransaction {
  /** 0x and hex digits in lower case. */
  raw: string;
  /** Keccak-256 of `raw`, by which the chain knows it: 0x and 64 hex digits in lower case. */
  hash: string;
}

/** Signs transactions with one key. Nobody else sees them before they are broadcast. */
export interface Signer {
  /** With its checksum (EIP-55). */
  readonly address: string;
  /** @param request from this address @throws as each signer says */
  sign(request: TransactionRequest, chainId: number): Promise<SignedTransaction>;
}

/** The registry that a signer writes to. */
interface Owned {
  chainId: number;
  contract: string;
  owner: string;
}

/**
 * A function that signs a transaction in the owner's name and broadcasts it. With the same request it may be called again:
 * it is the same transaction. Where the endpoint takes it, it answers the hash that was known before: an endpoint that
 * tells another one has no say in it.
 * @throws ArgumentError NOT_OWNER where the signer signs for another account; later as the signer and the call
 */
export function signingSender(
  signer: Signer,
  { chainId, contract, owner }: Owned,
  call: RpcCall,
): (request: TransactionRequest) => Promise<string> {
  if (signer.address !== getAddress(owner)) {
    const message = `Only the owner ${owner} can add roots to ${contract}, and the signer's account is ${signer.address}.`;
    throw new ArgumentError("NOT_OWNER", message, { expected: owner, actual: signer.address });
  }
  return async (request) => {
    const { raw, hash } = await signer.sign(request, chainId);
    await call("eth_sendRawTransaction", [raw]);
    return hash;
  };
}

/** The transaction that a request asks for, without its signature: no ether goes with it. */
export function toTransaction(request: TransactionRequest, chainId: number): Transaction {
  const { to, data, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, gasPrice, accessList } = request;
  const body = { to, data, nonce: Number(nonce), gasLimit: gas, value: 0, chainId };
  if (gasPrice === undefined) {
    const fees = { maxFeePerGas: maxFeePerGas ?? null, maxPriorityFeePerGas: maxPriorityFeePerGas ?? null };
    return Transaction.from({ ...body, type: 2, ...fees, accessList: accessList ?? [] });
  }
  return accessList === undefined
    ? Transaction.from({ ...body, type: 0, gasPrice })
    : Transaction.from({ ...body, type: 1, gasPrice, accessList });
}
