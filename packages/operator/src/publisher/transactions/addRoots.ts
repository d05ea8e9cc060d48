import { setTimeout as sleep } from "node:timers/promises";
import { formatEther } from "ethers/utils";
import { toQuantity } from "keyroot/internal/ethereum";
import type { TransportError } from "../../errors.ts";
import { feesOf, feesToHex, gasPriceOf, limitPriorityFee, maxGasPriceOf, priorityFeeOf } from "../chain/fees.ts";
import { worstDataFeeOf } from "../chain/dataFee.ts";
import { type AddRootCall, GAS_MARGIN, type Registry, type RootBatch } from "../chain/registry.ts";
import type { Attempt, AttemptJournal } from "../journal/journal.ts";
import type { SendTransaction } from "../signers/signer.ts";
import { type CostBudget, worstCostOf } from "./costLimits.ts";
import { type Prices, replacementFees } from "./feeBumps.ts";
import { findNonceUser, isNextNonceFree } from "./foreignNonce.ts";
import { newTransaction, type PendingTransaction } from "./pendingTransaction.ts";
import { trySend } from "./trySend.ts";
import { costLimitReached, describeGasPrice, feeTooHigh, noReceipt } from "./sendErrors.ts";
import type { SendOptions, TransactionEvent } from "./sendOptions.ts";

/** The default fee limit, as a multiple of the gas price when the first transaction is sent. */
const MAX_FEE_FACTOR = 10n;
/** The option that limits the priority fee, for messages (`maxPriorityFeeOf`). */
const PRIORITY_FEE_SETTING = "maxPriorityFeePerGas, by default a quarter of --max-fee";
const MAX_UINT256 = 2n ** 256n - 1n;
/** The time in ms after which a transaction is sent again if no node has confirmed the transaction. */
const RESEND_UNCONFIRMED_MS = 2_000;

export interface AddRootsContext {
  registry: Registry;
  send: SendTransaction;
  journal: AttemptJournal;
  options: SendOptions;
  /** The cost budget of all transactions. Undefined means no limit. */
  budget?: CostBudget | undefined;
  emit?: ((event: TransactionEvent) => void) | undefined;
}

/**
 * Adds the roots of batches with one transaction per batch. Several transactions can be pending at the same time.
 * Returns when every nonce is used and every batch has a receipt. The caller must then check that all users have the
 * root of their batch.
 *
 * A batch keeps its nonce until a transaction uses the nonce. A transaction is sent again if the transaction is stuck,
 * a node dropped the transaction, or the response was lost. The chain includes at most one transaction per nonce.
 * @throws VerificationError TRANSACTION_REVERTED; TransportError NO_RECEIPT, FEE_TOO_HIGH, COST_LIMIT_REACHED;
 * RPC_ERROR with the node's message if the node rejects a transaction permanently; and the errors of signer, journal
 * and chain
 */
export async function addRoots(batches: readonly RootBatch[], context: AddRootsContext): Promise<void> {
  await new RootAdder(context).run(batches);
}

class RootAdder {
  readonly #registry: Registry;
  readonly #send: SendTransaction;
  readonly #journal: AttemptJournal;
  readonly #options: SendOptions;
  readonly #budget: CostBudget | undefined;
  readonly #emit: (event: TransactionEvent) => void;
  /** Batches that wait for a nonce. */
  #queue: RootBatch[] = [];
  readonly #transactions = new Map<number, PendingTransaction>();
  /** The number of the owner's transactions in blocks. All lower nonces are used. */
  #usedNonces = 0;
  /** The lowest nonce for new batches. Lower nonces may belong to other transactions of the owner. */
  #nextNonce = 0;
  /** The roots that got a second nonce to fill a gap. */
  readonly #gapRoots = new Set<string>();
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

  /** Step 1: restores the batches' nonces from the journal, and queues the batches without a recorded nonce. */
  async #restoreAttempts(batches: readonly RootBatch[]): Promise<void> {
    const { chain, owner } = this.#registry;
    this.#usedNonces = await chain.transactionCount(owner, "latest");
    const byRoot = new Map(batches.map((batch) => [batch.root, batch]));
    const current = owner.toLowerCase();
    // For each nonce, the latest attempt counts. If the nonce is used, the latest attempt may have added the root.
    for (const attempt of this.#journal.attempts()) {
      const batch = byRoot.get(attempt.root);
      // Skip attempts of an earlier owner. The nonces of these attempts belong to another account, which can no longer
      // add roots.
      if (batch === undefined || (attempt.sender ?? current) !== current) continue;
      const known = this.#transactions.get(attempt.nonce);
      const hashes = known?.batch === batch ? known.hashes : [];
      if (attempt.hash !== undefined) hashes.push(attempt.hash);
      const transaction = { ...newTransaction(batch, attempt), hashes };
      // The nonce is used. Do not send this transaction before the chain shows which transaction used the nonce.
      if (attempt.nonce < this.#usedNonces) transaction.sentAt = performance.now();
      this.#transactions.set(attempt.nonce, transaction);
    }
    const restored = new Set(Array.from(this.#transactions.values(), ({ batch }) => batch));
    this.#queue = batches.filter((batch) => !restored.has(batch));
    this.#nextNonce = await chain.transactionCount(owner, "pending");
  }

  /** Returns the transactions that are not in a block, sorted by nonce. */
  #pending(): PendingTransaction[] {
    const pending = [...this.#transactions.values()].filter(({ included }) => !included);
    return pending.sort((a, b) => a.attempt.nonce - b.attempt.nonce);
  }

  /**
   * Step 2: finds the transactions that used nonces, and the transactions that a reorganization removed.
   * @returns true if the owner's number of used nonces changed
   */
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
        this.#emit({ event: "reorganized", root: transaction.batch.root, nonce });
      }
    }
    return this.#usedNonces !== before;
  }

  /**
   * Records a batch as included if the batch's transaction used the nonce. Queues the batch again if another
   * transaction used the nonce.
   */
  async #resolveNonce(nonce: number, transaction: PendingTransaction): Promise<void> {
    const user = await findNonceUser(transaction, this.#registry);
    if (user === undefined) return;
    const { batch } = transaction;
    const { root } = batch;
    const others = this.#otherNoncesOf(transaction);
    if (user.by === "foreign") {
      this.#transactions.delete(nonce);
      if (others.length === 0) this.#queue.unshift(batch);
      this.#emit({ event: "displaced", root, nonce });
      return;
    }
    transaction.included = true;
    transaction.call = undefined;
    // Earlier nonces of this root have no effect.
    for (const other of others) this.#transactions.delete(other);
    this.#emit({ event: "included", root, nonce, added: user.added });
  }

  /** Returns other nonces of the same batch, from an earlier run or a gap. */
  #otherNoncesOf({ batch, attempt }: PendingTransaction): number[] {
    return [...this.#transactions].flatMap(([nonce, other]) =>
      nonce !== attempt.nonce && other.batch === batch ? [nonce] : [],
    );
  }

  /**
   * Step 3: sends queued batches while fewer than `inFlight` transactions are pending.
   * @returns true if a batch was sent
   */
  async #sendQueued(): Promise<boolean> {
    const pending = this.#pending();
    let free = this.#options.inFlight - pending.length;
    if (free <= 0 || this.#queue.length === 0) return false;
    // Some nodes reject later nonces after a gap. First send the recorded transactions that this run has not sent.
    if (pending.some(({ sentAt }) => sentAt === undefined)) return false;
    const { feeData, block, maxFee } = await this.#fetchPrices();
    const fees = feesOf(feeData, maxFee);
    if (fees === undefined) {
      this.#reportWaiting(`gas costs more than ${describeGasPrice(maxFee)}`);
      return false;
    }
    for (; free > 0; free--) {
      const batch = this.#queue[0];
      if (batch === undefined) break;
      const call = this.#callOf(batch);
      const estimated = await this.#registry.estimateGas(call);
      const dataFee = await this.#registry.fetchDataFee(call, estimated + GAS_MARGIN, fees);
      // On Arbitrum, the gas for bytes may double before the transaction is in a block.
      const gas = estimated + GAS_MARGIN + dataFee.gas;
      const nonce = this.#freeNonce();
      const attempt = { nonce, root: batch.root, gas, fees, dataFee: worstDataFeeOf(dataFee) };
      const exceeded = this.#budget?.exceededBy(attempt);
      if (exceeded !== undefined) {
        if (this.#pending().length === 0) throw costLimitReached(worstCostOf(attempt), exceeded);
        this.#reportWaiting(`the next transaction could exceed the limit of ${formatEther(exceeded.wei)} ETH`);
        return false;
      }
      this.#nextNonce = nonce + 1;
      this.#queue.shift();
      const transaction = { ...newTransaction(batch, attempt), call };
      this.#transactions.set(attempt.nonce, transaction);
      await this.#recordAndSend(transaction, attempt, block, "sent");
    }
    return true;
  }

  async #fetchPrices(): Promise<Prices> {
    const { chain } = this.#registry;
    const { maxFeePerGas, maxPriorityFeePerGas } = this.#options;
    const block = await chain.block("latest");
    const fees = await chain.fetchFeeData(block);
    const feeData = limitPriorityFee(fees, maxPriorityFeePerGas ?? maxFeePerGas ?? MAX_UINT256);
    const maxFee = (this.#maxFee ??= MAX_FEE_FACTOR * gasPriceOf(feeData));
    return { feeData, block: block.number, maxFee, maxPriorityFee: maxPriorityFeePerGas ?? maxFee };
  }

  /** Reports each reason for waiting only once. */
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
    // The journal may contain higher fees, from an earlier run with other limits or from an attacker.
    const { maxFeePerGas = MAX_UINT256, maxPriorityFeePerGas = maxFeePerGas } = this.#options;
    const [maxFee, priorityFee] = [maxGasPriceOf(fees), priorityFeeOf(fees)];
    if (maxFee > maxFeePerGas)
      throw feeTooHigh(`The plan's recorded transaction offers ${describeGasPrice(maxFee)}`, maxFeePerGas, maxFee);
    if (priorityFee > maxPriorityFeePerGas) {
      const problem = `The plan's recorded transaction offers a priority fee of ${describeGasPrice(priorityFee)}`;
      throw feeTooHigh(problem, maxPriorityFeePerGas, priorityFee, PRIORITY_FEE_SETTING);
    }
    const exceeded = this.#budget?.exceededBy(attempt);
    if (exceeded !== undefined) throw costLimitReached(worstCostOf(attempt), exceeded);
    this.#budget?.record(attempt);
    const recorded = { ...attempt, sender: this.#registry.owner.toLowerCase(), time: Date.now() };
    await this.#journal.recordAttempt(recorded);
    transaction.call ??= this.#callOf(transaction.batch);
    const request = { ...transaction.call, nonce: toQuantity(nonce), gas: toQuantity(gas), ...feesToHex(fees) };
    const { accepted, hash, problem } = await trySend(this.#send, request);
    if (hash !== undefined) {
      transaction.hashes.push(hash);
      await this.#journal.recordAttempt({ ...recorded, hash });
    }
    Object.assign(transaction, { attempt, accepted, sentAt: performance.now(), sentAtBlock: block });
    this.#emit({ event, root, nonce, hash, gas, maxFee: String(maxFee) });
    if (problem === undefined) this.#lastReason = undefined;
    else this.#reportWaiting(problem);
  }

  /**
   * Step 4: sends the pending transaction with the lowest unused nonce again if this transaction is stuck. All other
   * transactions wait for this transaction. A transaction with a used nonce is never sent again, because no block can
   * include the transaction.
   */
  async #resendStuck(pending: readonly PendingTransaction[]): Promise<void> {
    const [first, ...later] = pending.filter(({ attempt }) => attempt.nonce >= this.#usedNonces);
    if (first === undefined) return;
    const { attempt, accepted, sentAt, sentAtBlock } = first;
    const { stuckAfterMs } = this.#options;
    const resendAfterMs = accepted ? stuckAfterMs : Math.min(stuckAfterMs, RESEND_UNCONFIRMED_MS);
    if (sentAt !== undefined && performance.now() - sentAt < resendAfterMs) return;
    if (attempt.nonce > this.#usedNonces && (await this.#fillGap(first, later))) return;
    const prices = await this.#fetchPrices();
    // Raise the fees only if blocks were made without the transaction.
    const isIgnored = accepted && prices.block > sentAtBlock;
    const { fees, isLimited } = replacementFees(attempt, isIgnored, prices, this.#budget);
    if (isLimited) this.#reportWaiting(`a higher fee would exceed the limits (${describeGasPrice(prices.maxFee)})`);
    const dataFee = await this.#registry.fetchDataFee(this.#callOf(first.batch), attempt.gas, fees);
    const replacement = { ...attempt, fees, dataFee: worstDataFeeOf(dataFee) };
    await this.#recordAndSend(first, replacement, prices.block, "replaced");
  }

  /**
   * Closes a gap in the nonces. A gap occurs if nodes drop another program's transaction with a lower nonce. The last
   * pending batch gets the free nonce. If a block also includes the batch's first transaction, this transaction has no
   * effect, because the batch's users already have roots.
   * @returns true if there was a gap
   */
  async #fillGap(first: PendingTransaction, later: readonly PendingTransaction[]): Promise<boolean> {
    if (!(await isNextNonceFree(this.#registry, this.#usedNonces))) return false;
    const last = later.at(-1) ?? first;
    // A root gets no further nonce while the results of two nonces are unknown.
    const { root } = last.batch;
    if (this.#gapRoots.has(root) || this.#otherNoncesOf(last).length > 0) return false;
    this.#gapRoots.add(root);
    this.#transactions.delete(last.attempt.nonce);
    this.#transactions.set(this.#usedNonces, last);
    await this.#recordAndSend(last, { ...last.attempt, nonce: this.#usedNonces }, last.sentAtBlock, "replaced");
    return true;
  }

  #timeoutError(first: PendingTransaction | undefined): TransportError {
    const { timeoutMs } = this.#options;
    if (first === undefined)
      return feeTooHigh(`Gas has cost too much for ${timeoutMs / 1000} s`, this.#maxFee ?? MAX_UINT256);
    const { nonce } = first.attempt;
    const transaction = { hash: first.hashes.at(-1), nonce, from: this.#registry.owner };
    const problem = `is in no block, and nothing has changed for ${timeoutMs / 1000} s`;
    return noReceipt(transaction, problem, "publish again", describeBlockage(nonce, this.#usedNonces));
  }
}

/** Describes why no block can include a transaction with this nonce. Returns undefined for the lowest unused nonce. */
function describeBlockage(nonce: number, usedNonces: number): string | undefined {
  if (nonce > usedNonces)
    return `Another transaction of the owner has the nonce ${usedNonces}, and must be included first.`;
  if (nonce === usedNonces) return undefined;
  return (
    `The owner has used the nonce ${nonce}, but the endpoint does not return the transaction that used it. Before this is ` +
    "known, nothing is sent with another nonce. Use another endpoint. For an old transaction, it needs the state of old blocks. If " +
    "you sent the other transaction yourself, you can also delete the plan's folder and publish again."
  );
}
