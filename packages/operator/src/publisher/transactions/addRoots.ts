import { setTimeout as sleep } from "node:timers/promises";
import { TransportError } from "keyroot/errors";
import { toQuantity } from "keyroot/ethereum";
import {
  bumpFees,
  type FeeData,
  type Fees,
  gasPriceOf,
  limitPriorityFee,
  maxGasPriceOf,
  quoteFees,
} from "../chain/fees.ts";
import { type AddedRootEvent, type AddRootCall, GAS_MARGIN, type Registry, type RootBatch } from "../chain/registry.ts";
import type { Attempt, Journal } from "../journal/journal.ts";
import type { SendTransaction } from "../signers/signer.ts";
import type { CostBudget } from "./costLimits.ts";
import { sendOnce } from "./sendOnce.ts";
import type { SendOptions, TransactionEvent } from "./sendOptions.ts";

/** The default fee limit, as a multiple of the gas price when the first transaction is sent. */
const MAX_FEE_FACTOR = 10n;
const MAX_UINT256 = 2n ** 256n - 1n;
/** How often a receipt may be missing before its transaction counts as displaced: nodes may know a nonce before its receipt. */
const MAX_MISSING_RECEIPTS = 3;
/** After how many ms a transaction is sent again if no node confirmed that it has it. */
const RESEND_UNCONFIRMED_MS = 2_000;

export interface AddRootsContext {
  registry: Registry;
  send: SendTransaction;
  journal: Journal;
  options: SendOptions;
  /** What the transactions may cost in all. Undefined: no limit. */
  budget?: CostBudget | undefined;
  emit?: ((event: TransactionEvent) => void) | undefined;
}

/**
 * Adds the roots of batches, each in a transaction of its own, several of them pending at once. Returns when every nonce is
 * used and every batch has its receipt. Whether all users have their root then is for the caller to read from the chain.
 *
 * A batch keeps its nonce until a transaction uses it. So a transaction that is sent again, because it is stuck, because the
 * node dropped it, or because the answer was lost, is never included twice.
 * @throws VerificationError TRANSACTION_REVERTED; TransportError NO_RECEIPT, FEE_TOO_HIGH; RPC_ERROR with the node's message if
 * it rejects a transaction permanently; and as signer, journal and chain
 */
export async function addRoots(batches: readonly RootBatch[], context: AddRootsContext): Promise<void> {
  await new RootAdder(context).run(batches);
}

/** A batch and the transaction that has its nonce. */
interface PendingTransaction {
  batch: RootBatch;
  /** Built when it is needed, and dropped once it is in a block. */
  call?: AddRootCall | undefined;
  attempt: Attempt;
  hashes: string[];
  /** Whether a node confirmed that it has the transaction. */
  accepted: boolean;
  /** When this run sent it last. Undefined: it must be sent now, since an earlier run may not have sent it or its block is gone. */
  sentAt: number | undefined;
  /** The newest block when it was sent last. */
  sentAtBlock: number;
  /** Whether its nonce is used, and its batch is on the chain. */
  included: boolean;
  /** How often its nonce was used, but no receipt was found. */
  missingReceipts: number;
}

class RootAdder {
  readonly #registry: Registry;
  readonly #send: SendTransaction;
  readonly #journal: Journal;
  readonly #options: SendOptions;
  readonly #budget: CostBudget | undefined;
  readonly #emit: (event: TransactionEvent) => void;
  /** Batches without a nonce. */
  #queue: RootBatch[] = [];
  readonly #transactions = new Map<number, PendingTransaction>();
  /** The number of the owner's transactions in blocks: all lower nonces are used. */
  #usedNonces = 0;
  /** The lowest nonce that a batch may get: lower ones may belong to other transactions of the owner. */
  #nextNonce = 0;
  #maxFee: bigint | undefined;
  #lastReason: string | undefined;

  constructor({ registry, send, journal, options, budget, emit = () => undefined }: AddRootsContext) {
    this.#registry = registry;
    this.#send = send;
    this.#journal = journal;
    this.#options = options;
    this.#budget = budget;
    this.#emit = emit;
    this.#maxFee = options.maxFeePerGas;
  }

  async run(batches: readonly RootBatch[]): Promise<void> {
    await this.#restoreAttempts(batches);
    let progressAt = performance.now();
    for (;;) {
      const progressed = [await this.#resolveNonces(), await this.#sendQueued()].includes(true);
      const pending = this.#pending();
      if (this.#queue.length === 0 && pending.length === 0) return;
      if (progressed) {
        progressAt = performance.now();
        continue;
      }
      if (performance.now() - progressAt > this.#options.timeoutMs) throw this.#timeoutError(pending[0]);
      await this.#resendStuck(pending);
      await sleep(this.#options.pollMs);
    }
  }

  /** Step 1: gives batches the nonces that an earlier run recorded for them, and queues the others. */
  async #restoreAttempts(batches: readonly RootBatch[]): Promise<void> {
    const { chain, owner } = this.#registry;
    this.#usedNonces = await chain.transactionCount(owner, "latest");
    const byRoot = new Map(batches.map((batch) => [batch.root, batch]));
    // The latest attempt with a nonce counts.
    for (const attempt of this.#journal.attempts()) {
      const batch = byRoot.get(attempt.root);
      if (batch === undefined || attempt.nonce < this.#usedNonces) continue;
      this.#transactions.set(attempt.nonce, newTransaction(batch, attempt));
    }
    const restored = new Set(Array.from(this.#transactions.values(), ({ batch }) => batch));
    this.#queue = batches.filter((batch) => !restored.has(batch));
    this.#nextNonce = await chain.transactionCount(owner, "pending");
  }

  /** The transactions that are in no block, by nonce. */
  #pending(): PendingTransaction[] {
    const pending = [...this.#transactions.values()].filter(({ included }) => !included);
    return pending.sort((a, b) => a.attempt.nonce - b.attempt.nonce);
  }

  /** Step 2: finds out what used nonces, and which blocks are gone. @returns whether the chain's nonce changed */
  async #resolveNonces(): Promise<boolean> {
    if (this.#transactions.size === 0) return false;
    const { chain, owner } = this.#registry;
    const before = this.#usedNonces;
    this.#usedNonces = await chain.transactionCount(owner, "latest");
    for (const [nonce, transaction] of this.#transactions) {
      const isUsed = nonce < this.#usedNonces;
      if (isUsed && !transaction.included) await this.#resolveNonce(nonce, transaction);
      else if (!isUsed && transaction.included) {
        Object.assign(transaction, { included: false, missingReceipts: 0, sentAt: undefined });
        this.#emit({ event: "reorganised", root: transaction.batch.root, nonce });
      }
    }
    return this.#usedNonces !== before;
  }

  /** Finds out whether the batch's transaction used its nonce. If another did, queues the batch again. */
  async #resolveNonce(nonce: number, transaction: PendingTransaction): Promise<void> {
    const { root, userIDs } = transaction.batch;
    const added = (await this.#findOwnReceipt(transaction)) ?? (await this.#registry.findAddedRoot(root));
    if (added === undefined) {
      if (++transaction.missingReceipts < MAX_MISSING_RECEIPTS) return;
      const roots = await this.#registry.getMerkleTreeRoots(userIDs);
      if (roots.includes(undefined)) {
        this.#transactions.delete(nonce);
        this.#queue.unshift(transaction.batch);
        this.#emit({ event: "displaced", root, nonce });
        return;
      }
    }
    transaction.included = true;
    transaction.call = undefined;
    this.#emit({ event: "included", root, nonce, added });
  }

  async #findOwnReceipt({ batch: { root }, hashes }: PendingTransaction): Promise<AddedRootEvent | undefined> {
    for (const hash of hashes.toReversed()) {
      const receipt = await this.#registry.chain.receipt(hash);
      if (receipt !== undefined) return this.#registry.readAddedRoot(receipt, root);
    }
    return undefined;
  }

  /** Step 3: sends queued batches while fewer than `inFlight` transactions are pending. @returns whether it sent any */
  async #sendQueued(): Promise<boolean> {
    const pending = this.#pending();
    let free = this.#options.inFlight - pending.length;
    if (free <= 0 || this.#queue.length === 0) return false;
    // Some nodes reject later nonces after a gap, so resend journaled but unsent transactions first.
    if (pending.some(({ sentAt }) => sentAt === undefined)) return false;
    const { feeData, block, maxFee } = await this.#fetchPrices();
    const fees = quoteFees(feeData, maxFee);
    if (fees === undefined) {
      this.#reportWaiting(`gas costs more than ${maxFee} wei`);
      return false;
    }
    for (; free > 0; free--) {
      const batch = this.#queue[0];
      if (batch === undefined) break;
      const call = this.#callOf(batch);
      const gas = (await this.#registry.estimateGas(call)) + GAS_MARGIN;
      const nonce = this.#freeNonce();
      if (this.#budget?.allows(nonce, gas, fees) === false) {
        if (this.#pending().length === 0) throw this.#costError(this.#budget, gas, fees);
        this.#reportWaiting(`the next transaction could exceed the limit of ${this.#budget.maxCost} wei`);
        return false;
      }
      this.#nextNonce = nonce + 1;
      this.#queue.shift();
      const attempt = { nonce, root: batch.root, gas, fees };
      const transaction = { ...newTransaction(batch, attempt), call };
      this.#transactions.set(attempt.nonce, transaction);
      await this.#recordAndSend(transaction, attempt, block, "sent");
    }
    return true;
  }

  async #fetchPrices(): Promise<{ feeData: FeeData; block: number; maxFee: bigint }> {
    const { chain } = this.#registry;
    const block = await chain.block("latest");
    const feeData = limitPriorityFee(
      await chain.fetchFeeData(block),
      this.#options.maxPriorityFeePerGas ?? this.#options.maxFeePerGas ?? MAX_UINT256,
    );
    return { feeData, block: block.number, maxFee: (this.#maxFee ??= MAX_FEE_FACTOR * gasPriceOf(feeData)) };
  }

  /** Reports once why nothing is sent. */
  #reportWaiting(reason: string): void {
    if (reason !== this.#lastReason) this.#emit({ event: "waiting", reason });
    this.#lastReason = reason;
  }

  #freeNonce(): number {
    let nonce = Math.max(this.#usedNonces, this.#nextNonce);
    while (this.#transactions.has(nonce)) nonce++;
    return nonce;
  }

  #callOf(batch: RootBatch): AddRootCall {
    return this.#registry.addRootCall(batch, this.#options.accessList);
  }

  async #recordAndSend(
    transaction: PendingTransaction,
    attempt: Attempt,
    block: number,
    event: "sent" | "replaced",
  ): Promise<void> {
    const { nonce, root, gas, fees } = attempt;
    // A journal may contain higher fees: of an earlier run with other limits, or planted.
    if (!this.#isWithinLimits(fees, this.#options.maxFeePerGas ?? MAX_UINT256)) throw this.#feeError(fees);
    if (this.#budget?.allows(nonce, gas, fees) === false) throw this.#costError(this.#budget, gas, fees);
    this.#budget?.record(nonce, gas, fees);
    await this.#journal.recordAttempt(attempt);
    transaction.call ??= this.#callOf(transaction.batch);
    const request = { ...transaction.call, nonce: toQuantity(nonce), gas: toQuantity(gas), ...feesToHex(fees) };
    const { accepted, hash } = await sendOnce(this.#send, request);
    if (hash !== undefined) transaction.hashes.push(hash);
    Object.assign(transaction, { attempt, accepted, sentAt: performance.now(), sentAtBlock: block });
    this.#lastReason = undefined;
    this.#emit({ event, root, nonce, hash, gas, maxFee: String(maxGasPriceOf(fees)) });
  }

  /** Step 4: sends the pending transaction with the lowest nonce again if it is stuck: all others wait for it. */
  async #resendStuck([first, ...later]: readonly PendingTransaction[]): Promise<void> {
    if (first === undefined) return;
    const { attempt, accepted, sentAt, sentAtBlock } = first;
    const { stuckAfterMs } = this.#options;
    const resendAfterMs = accepted ? stuckAfterMs : Math.min(stuckAfterMs, RESEND_UNCONFIRMED_MS);
    if (sentAt !== undefined && performance.now() - sentAt < resendAfterMs) return;
    if (attempt.nonce > this.#usedNonces && (await this.#fillGap(first, later))) return;
    const { feeData, block, maxFee } = await this.#fetchPrices();
    // If no block was made since, higher fees would not have helped.
    const offersTooLittle = (accepted && block > sentAtBlock) || maxGasPriceOf(attempt.fees) < gasPriceOf(feeData);
    const bumped = bumpFees(attempt.fees, feeData, maxFee, this.#options.maxPriorityFeePerGas);
    const isAllowed = bumped && this.#budget?.allows(attempt.nonce, attempt.gas, bumped) !== false;
    if (offersTooLittle && !isAllowed)
      this.#reportWaiting(`a higher fee would exceed the limits (${maxFee} wei per gas)`);
    const fees = offersTooLittle && isAllowed ? bumped : this.#withinLimit(attempt.fees, feeData, maxFee);
    await this.#recordAndSend(first, { ...attempt, fees }, block, "replaced");
  }

  /** Fees that the journal recorded; lower ones if they are above this run's limits, so that the nonce is used anyway. */
  #withinLimit(fees: Fees, feeData: FeeData, maxFee: bigint): Fees {
    return this.#isWithinLimits(fees, maxFee) ? fees : (quoteFees(feeData, maxFee) ?? fees);
  }

  #isWithinLimits(fees: Fees, maxFee: bigint): boolean {
    const { maxPriorityFeePerGas: maxPriorityFee = maxFee } = this.#options;
    return maxGasPriceOf(fees) <= maxFee && ("gasPrice" in fees || fees.maxPriorityFeePerGas <= maxPriorityFee);
  }

  /**
   * If another transaction of the owner held a lower nonce and is gone, gives that nonce to the last pending batch. If the
   * batch's first transaction is included as well, it has no effect: its users have roots.
   * @returns whether there was a gap
   */
  async #fillGap(first: PendingTransaction, later: readonly PendingTransaction[]): Promise<boolean> {
    const { chain, owner } = this.#registry;
    if ((await chain.transactionCount(owner, "pending")) > this.#usedNonces) return false;
    const last = later.at(-1) ?? first;
    this.#transactions.delete(last.attempt.nonce);
    this.#transactions.set(this.#usedNonces, last);
    await this.#recordAndSend(last, { ...last.attempt, nonce: this.#usedNonces }, last.sentAtBlock, "replaced");
    return true;
  }

  #feeError(fees: Fees): TransportError {
    const actual = String(maxGasPriceOf(fees));
    const message =
      `The plan's recorded transaction offers ${actual} wei per unit of gas, more than the limit of ${this.#maxFee}: publish ` +
      "again later, or raise the limit (--max-fee).";
    return new TransportError("FEE_TOO_HIGH", message, { expected: String(this.#maxFee), actual });
  }

  #costError({ maxCost }: CostBudget, gas: number, fees: Fees): TransportError {
    const actual = String(BigInt(gas) * maxGasPriceOf(fees));
    const message =
      `The next transaction could cost ${actual} wei, and this run would then have signed for more than its limit of ` +
      `${maxCost} wei. Nothing is half done: publish again to continue with a new limit, or raise it (--max-cost).`;
    return new TransportError("FEE_TOO_HIGH", message, { expected: String(maxCost), actual });
  }

  #timeoutError(first: PendingTransaction | undefined): TransportError {
    const { timeoutMs } = this.#options;
    if (first === undefined) {
      const message = `Gas has cost more than ${this.#maxFee} wei for ${timeoutMs} ms: publish again later, or raise the limit.`;
      return new TransportError("FEE_TOO_HIGH", message, { expected: String(this.#maxFee) });
    }
    const { nonce } = first.attempt;
    const blocked =
      nonce > this.#usedNonces
        ? ` Another transaction of the owner has the nonce ${this.#usedNonces}, and must be included first.`
        : "";
    const hash = first.hashes.at(-1) ?? `with the nonce ${nonce}`;
    const message = `The transaction ${hash} is in no block, and nothing has changed for ${timeoutMs} ms: publish again.${blocked}`;
    return new TransportError("NO_RECEIPT", message, { actual: hash });
  }
}

function newTransaction(batch: RootBatch, attempt: Attempt): PendingTransaction {
  return {
    batch,
    attempt,
    hashes: [],
    accepted: false,
    sentAt: undefined,
    sentAtBlock: -1,
    included: false,
    missingReceipts: 0,
  };
}

function feesToHex(fees: Fees): Record<string, string> {
  return Object.fromEntries(Object.entries(fees).map(([name, wei]: [string, bigint]) => [name, toQuantity(wei)]));
}
