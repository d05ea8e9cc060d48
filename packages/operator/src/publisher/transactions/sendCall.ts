import { setTimeout as sleep } from "node:timers/promises";
import { parseSafeQuantity, toQuantity } from "keyroot/internal/ethereum";
import { ArgumentError, TransportError, VerificationError } from "../../errors.ts";
import type { Chain, Receipt } from "../chain/chain.ts";
import { DataFees, worstDataFeeOf } from "../chain/dataFee.ts";
import { type Fees, feesOf, feesToHex, gasPriceOf, maxPriorityFeeOf } from "../chain/fees.ts";
import type { Registry } from "../chain/registry.ts";
import { endpointSender } from "../signers/endpointSender.ts";
import { type SendTransaction, type Signer, signingSender } from "../signers/signer.ts";
import { type CostLimits, type FeeLimits, worstCostOf } from "./costLimits.ts";
import { fetchPrices, replacementFees } from "./feeBumps.ts";
import { costLimitReached, describeGasPrice, feeTooHigh, noReceipt } from "./sendErrors.ts";
import { RESEND_UNCONFIRMED_MS } from "./sendOptions.ts";
import { isSearchDue, findSignedTransaction } from "./signedTransaction.ts";
import { type SendResult, trySend } from "./trySend.ts";

const POLL_MS = 250;
/** The time in ms after which a transaction that a node has accepted is sent again, with higher fees. */
const STUCK_AFTER_MS = 60_000;
const HIGHER_FEE_LIMITED = "A higher fee would exceed the limits (--max-fee).";
/** The remedy in the error for a transaction that is in no block. */
const REMEDY = "run the command again";

/** A call of any contract, or a deployment if `to` is undefined. */
export interface Call {
  /** The account that must send the call: 0x and 40 hex digits with checksum (EIP-55). */
  from: string;
  to?: string;
  data: string;
}

/** The transactions of a call. They all have the same nonce, so at most one of them can be in a block. */
export interface SentCall {
  nonce: number;
  /** The known hashes: 0x and 64 lowercase hex digits. */
  hashes: readonly string[];
}

/** Options of `sendCall`. */
export interface SendCallOptions {
  /** The chain id to sign for (EIP-155). */
  chainId: number;
  limits: CostLimits | "local";
  /** Signs for the sender of the call. Undefined if the endpoint signs. */
  signer: Signer | undefined;
  /** The maximum time to wait for the transaction's block, in ms. */
  timeoutMs: number;
  /** The transactions in which an earlier run sent the same call. They may be in a block. */
  earlier?: SentCall | undefined;
  /** The nonces of the sender's other transactions that may be pending, although the endpoint does not count them. */
  reservedNonces?: ReadonlySet<number> | undefined;
  /**
   * Keeps the transactions of the call. It is called before the first transaction is sent, and again after each one.
   */
  record?: ((sent: SentCall) => Promise<void>) | undefined;
  /** The file in which `record` keeps the transactions, for messages. */
  recordFile?: string | undefined;
  /** Receives each new reason why the transaction is in no block: whole sentences. */
  onWaiting?: ((reason: string) => void) | undefined;
}

/** A call that is in a block. */
export interface IncludedCall {
  receipt: Receipt;
  nonce: number;
  /** False if an earlier run sent the transaction, and this run sent nothing. */
  isSent: boolean;
}

/**
 * Sends a call in a transaction, and waits until the transaction is in a block. If nodes reject it for the moment or do
 * not include it, it is sent again with the same nonce.
 *
 * The call gets another nonce in only two cases: the owner's signature proves that a different transaction used the
 * nonce, or the transaction of an earlier run was reverted.
 * @throws ArgumentError NOT_OWNER if the signer has a different account; TransportError FEE_TOO_HIGH,
 *   COST_LIMIT_REACHED, NO_RECEIPT; VerificationError TRANSACTION_REVERTED
 */
export async function sendCall(
  { chain, contract }: Pick<Registry, "chain" | "contract">,
  call: Call,
  options: SendCallOptions,
): Promise<IncludedCall> {
  const { from } = call;
  const { signer, chainId } = options;
  if (signer !== undefined && signer.address !== from) {
    const message = `Only ${from} can send this transaction, but the signer's account is ${signer.address}. Use the key of ${from}, or print the call for its wallet with --call-only.`;
    throw new ArgumentError("NOT_OWNER", message, { expected: from, actual: signer.address });
  }
  const owned = { chain, contract, owner: from };
  const send =
    signer === undefined
      ? await endpointSender(owned, chainId)
      : signingSender(signer, { chainId, contract, owner: from }, chain.call);
  return new CallSender(chain, call, send, options).run();
}

/** The transactions of a call in this run. */
interface CallTransaction extends Pick<SendResult, "accepted" | "isUnderpriced"> {
  nonce: number;
  hashes: string[];
  /** True if an earlier run sent the transaction. */
  isEarlier: boolean;
  /** Gas limit and fees of the last transaction of this run. */
  sent?: { gas: number; fees: Fees; block: number; at: number } | undefined;
  /** The number of checks that found the nonce used, but no receipt. */
  missingReceipts: number;
}

class CallSender {
  readonly #chain: Chain;
  readonly #call: Call;
  readonly #send: SendTransaction;
  readonly #options: SendCallOptions;
  #transaction: CallTransaction | undefined;
  #isSent = false;
  /** The newest reason why the transaction is in no block: whole sentences. */
  #reason: string | undefined;

  constructor(chain: Chain, call: Call, send: SendTransaction, options: SendCallOptions) {
    this.#chain = chain;
    this.#call = call;
    this.#send = send;
    this.#options = options;
    if (options.earlier !== undefined) this.#transaction = newTransaction(options.earlier, true);
  }

  async run(): Promise<IncludedCall> {
    const { timeoutMs } = this.#options;
    const end = performance.now() + timeoutMs;
    for (;;) {
      const transaction = this.#transaction;
      const receipt = transaction && (await this.#findReceipt(transaction));
      if (receipt?.succeeded === true) return { receipt, nonce: transaction?.nonce ?? NaN, isSent: this.#isSent };
      if (receipt !== undefined) this.#forgetReverted(receipt);
      await this.#sendIfDue();
      if (performance.now() > end) throw this.#timeoutError();
      await sleep(POLL_MS);
    }
  }

  /** Returns the receipt of the call's transaction. Drops the transaction if another one used its nonce. */
  async #findReceipt(transaction: CallTransaction): Promise<Receipt | undefined> {
    const { nonce, hashes } = transaction;
    for (const hash of hashes.toReversed()) {
      const receipt = await this.#chain.receipt(hash);
      if (receipt !== undefined) return receipt;
    }
    const { from, to, data } = this.#call;
    const isUsed = (await this.#chain.transactionCount(from, "latest")) > nonce;
    if (!isUsed || !isSearchDue(++transaction.missingReceipts)) return undefined;
    const found = await findSignedTransaction({ chain: this.#chain, owner: from }, nonce);
    if (found === undefined) return undefined;
    if (found.to?.toLowerCase() !== to?.toLowerCase() || found.data !== data) {
      this.#transaction = undefined;
      return undefined;
    }
    // The endpoint confirmed the transaction without its hash, or an earlier run ended before it recorded the hash.
    if (!hashes.includes(found.hash)) hashes.push(found.hash);
    return this.#chain.receipt(found.hash);
  }

  /**
   * Handles a reverted transaction, which has used its nonce. If an earlier run sent it, the call gets another nonce.
   * Otherwise, an error is thrown.
   */
  #forgetReverted({ transactionHash, blockNumber }: Receipt): void {
    if (this.#transaction?.isEarlier !== true || this.#isSent) {
      const message = `The transaction ${transactionHash} in block ${blockNumber} was reverted.`;
      throw new VerificationError("root", "TRANSACTION_REVERTED", message, { actual: transactionHash });
    }
    this.#transaction = undefined;
  }

  async #sendIfDue(): Promise<void> {
    const transaction = (this.#transaction ??= newTransaction({ nonce: await this.#freeNonce(), hashes: [] }, false));
    // The nonce is used. Nothing can be sent before the chain shows which transaction used it.
    if (transaction.missingReceipts > 0) return;
    const { sent, accepted } = transaction;
    const waitMs = accepted ? STUCK_AFTER_MS : RESEND_UNCONFIRMED_MS;
    if (sent !== undefined && performance.now() - sent.at < waitMs) return;
    try {
      await this.#sendOnce(transaction);
    } catch (error) {
      // The earlier transaction may still be included, whatever prevents another one.
      if (!(error instanceof TransportError) || transaction.hashes.length === 0) throw error;
      this.#reportReason(error.message);
      if (sent !== undefined) sent.at = performance.now();
    }
  }

  async #sendOnce(transaction: CallTransaction): Promise<void> {
    const { nonce, hashes } = transaction;
    const { gas, fees, block, limited } = await this.#quote(transaction);
    if (transaction.sent === undefined) await this.#record(transaction);
    this.#isSent = true;
    const request = { ...this.#call, nonce: toQuantity(nonce), gas: toQuantity(gas), ...feesToHex(fees) };
    const { accepted, hash, problem, isUnderpriced } = await trySend(this.#send, request);
    Object.assign(transaction, { sent: { gas, fees, block, at: performance.now() }, accepted, isUnderpriced });
    this.#reportReason(problem === undefined ? limited : `${problem}.`);
    const known = hash?.toLowerCase();
    if (known === undefined || hashes.includes(known)) return;
    hashes.push(known);
    await this.#record(transaction);
  }

  #reportReason(reason: string | undefined): void {
    if (reason !== undefined && reason !== this.#reason) this.#options.onWaiting?.(reason);
    this.#reason = reason;
  }

  async #record({ nonce, hashes }: CallTransaction): Promise<void> {
    await this.#options.record?.({ nonce, hashes: [...hashes] });
  }

  async #freeNonce(): Promise<number> {
    let nonce = await this.#chain.transactionCount(this.#call.from, "pending");
    while (this.#options.reservedNonces?.has(nonce) === true) nonce++;
    return nonce;
  }

  /**
   * Returns the gas limit and fees of the next transaction, after checking its price and cost against the limits. On
   * rollups, the cost includes the fee for the bytes of the transaction.
   */
  async #quote({ nonce, sent, accepted, isUnderpriced }: CallTransaction) {
    const chain = this.#chain;
    const { limits } = this.#options;
    const prices = await fetchPrices(chain, feeLimitsOf(limits));
    const { feeData, maxFee, block } = prices;
    const current = feesOf(feeData, maxFee);
    if (current === undefined) {
      const price = gasPriceOf(feeData);
      throw feeTooHigh(`Gas costs ${describeGasPrice(price)}`, maxFee, price);
    }
    const isStuck = accepted && sent !== undefined && block > sent.block;
    const reason = isUnderpriced ? "underpriced" : isStuck ? "stuck" : undefined;
    const { fees, isLimited } =
      sent === undefined
        ? { fees: current, isLimited: false }
        : replacementFees({ nonce, root: "", ...sent }, reason, prices, undefined);
    const estimated = await chain.request("eth_estimateGas", [this.#call], parseSafeQuantity);
    const dataFee = await new DataFees(chain).fetch(this.#call, estimated, fees);
    // The gas for bytes may double before the transaction is in a block.
    const gas = estimated + dataFee.gas;
    const cost = worstCostOf({ nonce, gas, fees, dataFee: worstDataFeeOf(dataFee) });
    const maxCost = limits === "local" ? undefined : limits.maxCost;
    if (maxCost !== undefined && cost > maxCost) throw costLimitReached(cost, { limit: "transaction", wei: maxCost });
    return { gas, fees, block, limited: isLimited ? HIGHER_FEE_LIMITED : undefined };
  }

  #timeoutError(): TransportError {
    const { timeoutMs } = this.#options;
    const { from } = this.#call;
    const { nonce = NaN, hashes = [], missingReceipts = 0 } = this.#transaction ?? {};
    const problem = `is in no block after ${timeoutMs / 1000} s`;
    const note = missingReceipts > 0 ? this.#describeUsedNonce(nonce) : this.#reason;
    return noReceipt({ hash: hashes.at(-1), nonce, from }, problem, REMEDY, note);
  }

  #describeUsedNonce(nonce: number): string {
    const { recordFile } = this.#options;
    const problem = `${this.#call.from} has used the nonce ${nonce}, but the endpoint does not return the transaction that used it. Use another endpoint.`;
    if (recordFile === undefined) return problem;
    return `${problem} If you know that you used this nonce for something else, you can also delete ${recordFile}.`;
  }
}

function newTransaction({ nonce, hashes }: SentCall, isEarlier: boolean): CallTransaction {
  return { nonce, hashes: [...hashes], isEarlier, accepted: false, isUnderpriced: false, missingReceipts: 0 };
}

function feeLimitsOf(limits: CostLimits | "local"): FeeLimits {
  if (limits === "local") return { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined };
  const { maxFeePerGas, maxPriorityFeePerGas } = limits;
  return { maxFeePerGas, maxPriorityFeePerGas: maxPriorityFeeOf(maxFeePerGas, maxPriorityFeePerGas) };
}
