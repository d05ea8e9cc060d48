import { setTimeout as sleep } from "node:timers/promises";
import { formatEther } from "ethers/utils";
import { toQuantity } from "keyroot/internal/ethereum";
import type { TransportError } from "../../errors.ts";
import { feesOf, feesToHex, maxGasPriceOf } from "../chain/fees.ts";
import type { AddRootCall, Registry, RootBatch } from "../chain/registry.ts";
import type { Attempt, AttemptJournal } from "../journal/journal.ts";
import { omitsAccessList, type SendTransaction } from "../signers/signer.ts";
import { checkRecordedFees, type CostBudget, worstCostOf } from "./costLimits.ts";
import { fetchPrices, type Prices, replacementFees } from "./feeBumps.ts";
import { describeBlockage, findNonceUser, isNextNonceFree } from "./foreignNonce.ts";
import { newTransaction, type PendingTransaction, restoreTransactions } from "./pendingTransaction.ts";
import { quoteCall } from "./quoteCall.ts";
import { RevertedTransactions } from "./revertedTransactions.ts";
import { type SendResult, trySend } from "./trySend.ts";
import { UsedNonces } from "./usedNonces.ts";
import { asSentence, costLimitReached, describeGasPrice, feeTooHigh, noReceipt } from "./sendErrors.ts";
import { RESEND_UNCONFIRMED_MS, type SendOptions, type TransactionEvent } from "./sendOptions.ts";

const MAX_UINT256 = 2n ** 256n - 1n;

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
 * Adds the roots of batches with one transaction each, several of which can be pending at the same time. It returns
 * when every nonce is used and every batch has a receipt. The caller must then check that all users have the root of
 * their batch.
 *
 * A batch keeps its nonce until a transaction uses it. If a transaction is stuck, was dropped or got no response, it is
 * sent again with the same nonce. This is safe, because the chain includes at most one transaction per nonce. After a
 * revert, the batch gets another nonce.
 * @throws VerificationError TRANSACTION_REVERTED; TransportError NO_RECEIPT, FEE_TOO_HIGH, COST_LIMIT_REACHED;
 *   RPC_ERROR with the node's message if the node rejects a transaction permanently; and the errors of signer, journal
 *   and chain
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
  #transactions = new Map<number, PendingTransaction>();
  readonly #used: UsedNonces;
  /** The lowest nonce for new batches. Lower nonces may belong to other transactions of the owner. */
  #nextNonce = 0;
  /** The roots that got a second nonce to fill a gap. */
  readonly #gapRoots = new Set<string>();
  readonly #reverted = new RevertedTransactions();
  /** False after the signer has signed a transaction without its access list. */
  #accessList: boolean;
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
    this.#accessList = options.accessList;
    this.#used = new UsedNonces(registry.chain, registry.owner);
  }

  /** The number of the owner's transactions in blocks. All lower nonces are used. */
  get #usedNonces() {
    return this.#used.count;
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
    await this.#used.read();
    this.#transactions = restoreTransactions(batches, this.#journal.attempts(), owner, this.#usedNonces);
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
   * Step 2: finds out which transactions used nonces, and which transactions a reorganization removed from the chain.
   * @returns true if the owner's number of used nonces changed
   */
  async #resolveNonces(): Promise<boolean> {
    if (this.#transactions.size === 0) return false;
    const before = this.#usedNonces;
    await this.#used.read();
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
   * Records a batch as included if its transaction used the nonce. If this transaction was reverted, or if a foreign
   * transaction used the nonce, the batch is queued again.
   */
  async #resolveNonce(nonce: number, transaction: PendingTransaction): Promise<void> {
    const user = await findNonceUser(transaction, this.#registry);
    if (user === undefined) return;
    const { batch } = transaction;
    const { root } = batch;
    const others = this.#otherNoncesOf(transaction);
    if (user.by === "foreign" || "reverted" in user) {
      this.#transactions.delete(nonce);
      if (others.length === 0) this.#queue.unshift(batch);
      if (user.by === "foreign") {
        this.#emit({ event: "displaced", root, nonce });
        return;
      }
      const { reverted } = user;
      const { transactionHash: hash, blockNumber, gasUsed } = reverted;
      this.#emit({ event: "reverted", root, nonce, hash, blockNumber, gasUsed });
      this.#reverted.record(root, reverted, transaction.sentGas > 0);
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
    // First send again what nodes may not have: recorded transactions that this run has not sent, and transactions that
    // a node has rejected. Some nodes reject later nonces after a gap.
    if (pending.some(({ sentAt, isRejected }) => sentAt === undefined || isRejected)) return false;
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
      const estimated = await this.#estimateGas(batch, call);
      const quote = await quoteCall(this.#registry, call, { estimated, sentGas: 0, fees });
      const nonce = this.#freeNonce();
      const attempt = { nonce, root: batch.root, fees, ...quote };
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
      if (transaction.isRejected) break;
    }
    return true;
  }

  async #fetchPrices(): Promise<Prices> {
    const { maxPriorityFeePerGas } = this.#options;
    const prices = await fetchPrices(this.#registry.chain, { maxFeePerGas: this.#maxFee, maxPriorityFeePerGas });
    this.#maxFee ??= prices.maxFee;
    return prices;
  }

  /** Reports each reason for waiting only once. */
  #reportWaiting(reason: string | undefined): void {
    if (reason !== undefined && reason !== this.#lastReason) this.#emit({ event: "waiting", reason });
    this.#lastReason = reason;
  }

  #freeNonce(): number {
    let nonce = Math.max(this.#usedNonces, this.#nextNonce);
    while (this.#transactions.has(nonce)) nonce++;
    return nonce;
  }

  #callOf(batch: RootBatch): AddRootCall {
    return this.#registry.addRootCall(batch, this.#accessList);
  }

  #estimateGas({ root }: RootBatch, call: AddRootCall): Promise<number> {
    return this.#reverted.explain(root, () => this.#registry.estimateGas(call));
  }

  async #recordAndSend(
    transaction: PendingTransaction,
    attempt: Attempt,
    block: number,
    event: "sent" | "replaced",
    limitation?: string,
  ): Promise<void> {
    const { nonce, root, gas, fees } = attempt;
    checkRecordedFees(fees, this.#options);
    const exceeded = this.#budget?.exceededBy(attempt);
    if (exceeded !== undefined) throw costLimitReached(worstCostOf(attempt), exceeded);
    this.#budget?.record(attempt);
    const recorded = { ...attempt, sender: this.#registry.owner.toLowerCase(), time: Date.now() };
    await this.#journal.recordAttempt(recorded);
    transaction.call ??= this.#callOf(transaction.batch);
    const request = { ...transaction.call, nonce: toQuantity(nonce), gas: toQuantity(gas), ...feesToHex(fees) };
    const hasPending = this.#pending().some((other) => other !== transaction && other.accepted);
    let sent: SendResult;
    try {
      sent = await trySend(this.#send, request, hasPending);
    } catch (error) {
      if (!omitsAccessList(error, request)) throw error;
      this.#accessList = false;
      return this.#requote(transaction, attempt, block, event);
    }
    const { hash, problem = limitation, ...result } = sent;
    if (hash !== undefined) {
      transaction.hashes.push(hash);
      await this.#journal.recordAttempt({ ...recorded, hash });
    }
    Object.assign(transaction, { attempt, ...result, sentAt: performance.now(), sentAtBlock: block, sentGas: gas });
    this.#emit({ event, root, nonce, hash, gas, maxFee: String(maxGasPriceOf(fees)) });
    this.#reportWaiting(problem);
  }

  /**
   * Estimates the gas of a transaction again, and sends the transaction with the fees of `attempt`.
   * @param known the estimate, and the reason why the fees are not higher
   */
  async #requote(
    transaction: PendingTransaction,
    attempt: Attempt,
    block: number,
    event: "sent" | "replaced",
    known: { estimated?: number; limitation?: string | undefined } = {},
  ): Promise<void> {
    const { batch, sentGas } = transaction;
    const call = this.#callOf(batch);
    const estimated = known.estimated ?? (await this.#estimateGas(batch, call));
    const quote = await quoteCall(this.#registry, call, { estimated, sentGas, fees: attempt.fees });
    transaction.call = call;
    await this.#recordAndSend(transaction, { ...attempt, ...quote }, block, event, known.limitation);
  }

  /**
   * Step 4: looks at the pending transaction with the lowest unused nonce, for which all others wait. If it is stuck,
   * it is sent again. A transaction with a used nonce is never sent again, because no block can include it.
   */
  async #resendStuck(pending: readonly PendingTransaction[]): Promise<void> {
    const [first, ...later] = pending.filter(({ attempt }) => attempt.nonce >= this.#usedNonces);
    if (first === undefined) return;
    const { attempt, accepted, isUnderpriced, hashes, sentAt, sentAtBlock } = first;
    const { stuckAfterMs } = this.#options;
    const resendAfterMs = accepted ? stuckAfterMs : Math.min(stuckAfterMs, RESEND_UNCONFIRMED_MS);
    if (sentAt !== undefined && performance.now() - sentAt < resendAfterMs) return;
    if (attempt.nonce > this.#usedNonces && (await this.#fillGap(first, later))) return;
    const prices = await this.#fetchPrices();
    const estimated = await this.#estimateGas(first.batch, this.#callOf(first.batch));
    // Raise the fees only if blocks were made without the transaction, or if nodes may have it with too little gas.
    const hasTooLittleGas = hashes.length > 0 && estimated > attempt.gas;
    const isStuck = (accepted && prices.block > sentAtBlock) || hasTooLittleGas;
    const reason = isUnderpriced ? "underpriced" : isStuck ? "stuck" : undefined;
    const { fees, isLimited } = replacementFees(attempt, reason, prices, this.#budget);
    const limitation = `a higher fee would exceed the limits (${describeGasPrice(prices.maxFee)})`;
    const known = { estimated, limitation: isLimited ? limitation : undefined };
    await this.#requote(first, { ...attempt, fees }, prices.block, "replaced", known);
  }

  /**
   * Closes a gap in the nonces. Nodes cause a gap if they drop another program's transaction with a lower nonce. The
   * last pending batch is then sent with the free nonce. If both its transactions are included, the second has no
   * effect, because the users already have roots.
   * @returns true if the batch was sent
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
    await this.#requote(last, { ...last.attempt, nonce: this.#usedNonces }, last.sentAtBlock, "replaced");
    return true;
  }

  #timeoutError(first: PendingTransaction | undefined): TransportError {
    const { timeoutMs } = this.#options;
    if (first === undefined)
      return feeTooHigh(`Gas has cost too much for ${timeoutMs / 1000} s`, this.#maxFee ?? MAX_UINT256);
    const { nonce } = first.attempt;
    const transaction = { hash: first.hashes.at(-1), nonce, from: this.#registry.owner };
    const problem = `is in no block, and nothing has changed for ${timeoutMs / 1000} s`;
    const note = describeBlockage(nonce, this.#usedNonces) ?? asSentence(this.#lastReason);
    return noReceipt(transaction, problem, "publish again", note);
  }
}
