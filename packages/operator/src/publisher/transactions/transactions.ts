import { setTimeout as sleep } from "node:timers/promises";
import { TransportError } from "keyroot/errors";
import { isHash, toHex } from "../chain/chain.ts";
import { type Fees, type Market, offer, priceOf, raise, topOf } from "./fees.ts";
import { GAS_MARGIN } from "../plan/usersPerTransaction.ts";
import { mayPass } from "../chain/retry.ts";
import type { Batch } from "../plan/plan.ts";
import type { Attempt, Journal } from "../journal/folderJournal.ts";
import type { AddedRoot, Addition, Registry } from "../chain/registry.ts";
import type { TransactionRequest } from "../signers/signer.ts";

/**
 * Signs a transaction in the owner's name and sends it. It may be called again with the same nonce.
 * @returns the transaction's hash
 * @throws TransportError in the words of the node that refuses it
 */
export type SendTransaction = (transaction: TransactionRequest) => Promise<string>;

/** How transactions are sent and waited for. */
export interface SendOptions {
  /** How many may be on their way at once. Default 8. */
  inFlight: number;
  /** The most that a unit of gas may cost, in wei; undefined: ten times what it costs when the first is sent. */
  maxFeePerGas: bigint | undefined;
  /** Whether the transactions list the slots that they touch (EIP-2930). */
  accessList: boolean;
  /** After how many ms without a block for it a transaction is sent again, for more where blocks went by. Default 60,000. */
  stuckAfterMs: number;
  /** How long to wait in ms while nothing changes, before giving up. Default 600,000. */
  timeoutMs: number;
  /** How often to look, in ms. Default 250. */
  pollMs: number;
}

export const DEFAULT_SEND_OPTIONS: SendOptions = {
  inFlight: 8,
  maxFeePerGas: undefined,
  accessList: false,
  stuckAfterMs: 60_000,
  timeoutMs: 600_000,
  pollMs: 250,
};

/** What happened to a transaction. */
export type TransactionEvent =
  | { event: "sent" | "replaced"; root: string; nonce: number; hash: string | undefined; gas: number; maxFee: string }
  | { event: "included"; root: string; nonce: number; added: AddedRoot | undefined }
  | { event: "reorganised" | "displaced"; root: string; nonce: number }
  | { event: "waiting"; reason: string };

/** A batch under its nonce: both stay together until the nonce is used up. */
interface Sent {
  batch: Batch;
  /** Made when it is needed, and kept until it is in a block. */
  addition?: Addition | undefined;
  attempt: Attempt;
  hashes: string[];
  /** Whether a node said that it has it. */
  taken: boolean;
  /** When it was sent last, and at which block; never where a former run may have sent it. */
  at: number;
  atBlock: number;
  /** Set once its nonce is used up. */
  included: boolean;
  /** How often its receipt was not there, though its nonce was used up. */
  misses: number;
}

/** Nodes' words for a transaction that they have already, or one as good under the same nonce. */
const TAKEN = /already known|known transaction|already imported|already exists|replacement transaction underpriced/i;
/** Nodes' words for a nonce or a fee that will not do, or for no room: where things stand shows on the chain. */
const NONCE_OR_FEE = /nonce|underpriced|base fee|fee cap|pool is full/i;
const CAP_FACTOR = 10n;
const MAX_MISSES = 3;

/**
 * Brings batches onto the chain: each in a transaction, several on their way at once. Returns when every nonce is used up
 * and every batch has its receipt; whether the users have their roots is for who reads the chain then.
 *
 * A batch keeps its nonce until that is used up, by whomever. So a batch that is sent again, since it is stuck, forgotten
 * by the node, or since the answer was lost, never becomes two transactions.
 */
export class Transactions {
  readonly #registry: Registry;
  readonly #send: SendTransaction;
  readonly #journal: Journal;
  readonly #options: SendOptions;
  readonly #tell: (event: TransactionEvent) => void;
  #queue: Batch[] = [];
  readonly #sent = new Map<number, Sent>();
  /** The owner's count of transactions in blocks. */
  #used = 0;
  /** No nonce below is given to a batch: it may be another's. */
  #nextNonce = 0;
  #maxFee: bigint | undefined;
  #changedAt = 0;
  #reason: string | undefined;

  constructor(
    registry: Registry,
    send: SendTransaction,
    journal: Journal,
    options: SendOptions,
    tell: (event: TransactionEvent) => void = () => undefined,
  ) {
    this.#registry = registry;
    this.#send = send;
    this.#journal = journal;
    this.#options = options;
    this.#tell = tell;
    this.#maxFee = options.maxFeePerGas;
  }

  /**
   * @throws VerificationError TRANSACTION_REVERTED; TransportError NO_RECEIPT, FEE_TOO_HIGH, and in the node's words where it
   * refuses a transaction for good
   */
  async run(batches: readonly Batch[]): Promise<void> {
    await this.#begin(batches);
    this.#changedAt = performance.now();
    for (;;) {
      const changed = [await this.#look(), await this.#fill()].includes(true);
      const waiting = this.#waiting();
      if (this.#queue.length === 0 && waiting.length === 0) return;
      const now = performance.now();
      if (changed) this.#changedAt = now;
      else if (now - this.#changedAt > this.#options.timeoutMs) throw this.#givenUp(waiting[0]);
      if (changed) continue;
      await this.#unstick(waiting, now);
      await sleep(this.#options.pollMs);
    }
  }

  /** Finds out which nonces are whose: a former run's, this one's, or those of somebody who has the same key. */
  async #begin(batches: readonly Batch[]): Promise<void> {
    const { chain, owner } = this.#registry;
    this.#used = await chain.transactionCount(owner, "latest");
    const byRoot = new Map(batches.map((batch) => [batch.root, batch]));
    this.#sent.clear();
    // The latest attempt with a nonce counts.
    for (const attempt of this.#journal.attempts()) {
      const batch = byRoot.get(attempt.root);
      if (batch === undefined || attempt.nonce < this.#used) continue;
      this.#sent.set(attempt.nonce, {
        batch,
        attempt,
        hashes: [],
        taken: false,
        at: -Infinity,
        atBlock: -1,
        included: false,
        misses: 0,
      });
    }
    const underWay = new Set(Array.from(this.#sent.values(), ({ batch }) => batch));
    this.#queue = batches.filter((batch) => !underWay.has(batch));
    this.#nextNonce = await chain.transactionCount(owner, "pending");
  }

  /** Those that are in no block, the next one first. */
  #waiting(): Sent[] {
    const waiting = [...this.#sent.values()].filter(({ included }) => !included);
    return waiting.sort((a, b) => a.attempt.nonce - b.attempt.nonce);
  }

  /** Looks which nonces are used up now, and for what. Tells whether there is anything new. */
  async #look(): Promise<boolean> {
    const { chain, owner } = this.#registry;
    if (this.#sent.size === 0) return false;
    const before = this.#used;
    this.#used = await chain.transactionCount(owner, "latest");
    for (const [nonce, sent] of this.#sent) {
      if (nonce < this.#used && !sent.included) await this.#settle(nonce, sent);
      else if (nonce >= this.#used && sent.included) {
        // The block is gone that it was in.
        Object.assign(sent, { included: false, misses: 0, at: -Infinity });
        this.#tell({ event: "reorganised", root: sent.batch.root, nonce });
      }
    }
    return this.#used !== before;
  }

  /** What used a nonce up: the batch's transaction, or another. */
  async #settle(nonce: number, sent: Sent): Promise<void> {
    const { root, userIDs } = sent.batch;
    const added = (await this.#addedBySent(sent)) ?? (await this.#registry.findAddition(root));
    if (added === undefined) {
      // A node may count a transaction before it has the receipt.
      if (++sent.misses < MAX_MISSES) return;
      const roots = await this.#registry.getMerkleTreeRoots(userIDs);
      if (roots.includes(undefined)) {
        this.#sent.delete(nonce);
        this.#queue.unshift(sent.batch);
        this.#tell({ event: "displaced", root, nonce });
        return;
      }
    }
    sent.included = true;
    sent.addition = undefined;
    this.#tell({ event: "included", root, nonce, added });
  }

  async #addedBySent({ batch: { root }, hashes }: Sent): Promise<AddedRoot | undefined> {
    for (const hash of hashes.toReversed()) {
      const receipt = await this.#registry.chain.receipt(hash);
      if (receipt !== undefined) return this.#registry.addedBy(receipt, root);
    }
    return undefined;
  }

  /** Sends what waits, up to as many as may be on their way. Tells whether there was anything to send. */
  async #fill(): Promise<boolean> {
    const waiting = this.#waiting();
    let free = this.#options.inFlight - waiting.length;
    if (free <= 0 || this.#queue.length === 0) return false;
    // What nobody may have sent yet is a gap, after which some nodes take nothing: it goes first.
    if (waiting.some(({ at }) => at === -Infinity)) return false;
    const { market, block, maxFee } = await this.#lookAtMarket();
    const fees = offer(market, maxFee);
    if (fees === undefined) {
      this.#wait(`gas costs more than ${maxFee} wei`);
      return false;
    }
    for (; free > 0; free--) {
      const batch = this.#queue[0];
      if (batch === undefined) break;
      const addition = this.#additionOf(batch);
      const gas = (await this.#registry.estimateGas(addition)) + GAS_MARGIN;
      this.#queue.shift();
      const attempt = { nonce: this.#takeNonce(), root: batch.root, gas, fees };
      const sent: Sent = {
        batch,
        addition,
        attempt,
        hashes: [],
        taken: false,
        at: 0,
        atBlock: 0,
        included: false,
        misses: 0,
      };
      this.#sent.set(attempt.nonce, sent);
      await this.#attempt(sent, attempt, block, "sent");
    }
    return true;
  }

  async #lookAtMarket(): Promise<{ market: Market; block: number; maxFee: bigint }> {
    const block = await this.#registry.chain.block("latest");
    const market = await this.#registry.chain.market(block);
    return { market, block: block.number, maxFee: (this.#maxFee ??= CAP_FACTOR * priceOf(market)) };
  }

  /** Tells once why nothing is sent. */
  #wait(reason: string): void {
    if (reason !== this.#reason) this.#tell({ event: "waiting", reason });
    this.#reason = reason;
  }

  #takeNonce(): number {
    let nonce = Math.max(this.#used, this.#nextNonce);
    while (this.#sent.has(nonce)) nonce++;
    this.#nextNonce = nonce + 1;
    return nonce;
  }

  #additionOf(batch: Batch): Addition {
    return this.#registry.addition(batch, this.#options.accessList);
  }

  async #attempt(sent: Sent, attempt: Attempt, atBlock: number, event: "sent" | "replaced"): Promise<void> {
    await this.#journal.recordAttempt(attempt);
    const { nonce, root, gas, fees } = attempt;
    const quantities = { nonce: toHex(nonce), gas: toHex(gas), ...feesInHex(fees) };
    sent.addition ??= this.#additionOf(sent.batch);
    const { taken, hash } = await this.#sendOnce({ ...sent.addition, ...quantities });
    if (hash !== undefined) sent.hashes.push(hash);
    Object.assign(sent, { attempt, taken, at: performance.now(), atBlock });
    this.#reason = undefined;
    this.#tell({ event, root, nonce, hash, gas, maxFee: String(topOf(fees)) });
  }

  /** Sends a transaction. Where the answer does not tell what became of it, the chain will. */
  async #sendOnce(transaction: TransactionRequest): Promise<{ taken: boolean; hash?: string }> {
    try {
      const hash: unknown = await this.#send(transaction);
      return isHash(hash) ? { taken: true, hash } : { taken: false };
    } catch (error) {
      const words = error instanceof TransportError && error.code === "RPC_ERROR" ? error.message : "";
      if (TAKEN.test(words)) return { taken: true };
      if (mayPass(error) || NONCE_OR_FEE.test(words)) return { taken: false };
      throw error;
    }
  }

  /** Sends the transaction again that all others wait for, where it has waited for too long. */
  async #unstick([first, ...later]: readonly Sent[], now: number): Promise<void> {
    if (first === undefined) return;
    const { attempt, at, atBlock, taken } = first;
    const { stuckAfterMs } = this.#options;
    if (now - at < (taken ? stuckAfterMs : Math.min(stuckAfterMs, UNANSWERED_MS))) return;
    if (attempt.nonce > this.#used && (await this.#fillGap(first, later))) return;
    const { market, block, maxFee } = await this.#lookAtMarket();
    // Where no block went by, more would not have helped.
    const tooLittle = (taken && block > atBlock) || topOf(attempt.fees) < priceOf(market);
    const fees = tooLittle ? raise(attempt.fees, market, maxFee) : attempt.fees;
    if (fees === undefined) this.#wait(`a higher fee would be more than ${maxFee} wei`);
    await this.#attempt(first, { ...attempt, fees: fees ?? attempt.fees }, block, "replaced");
  }

  /**
   * Where another's transaction was to use up a nonce before ours, and is gone: the last of ours takes its place. Its own
   * nonce is then used for nothing, or for users who all have their root.
   */
  async #fillGap(first: Sent, later: readonly Sent[]): Promise<boolean> {
    const { chain, owner } = this.#registry;
    if ((await chain.transactionCount(owner, "pending")) > this.#used) return false;
    const last = later.at(-1) ?? first;
    this.#sent.delete(last.attempt.nonce);
    this.#sent.set(this.#used, last);
    await this.#attempt(last, { ...last.attempt, nonce: this.#used }, last.atBlock, "replaced");
    return true;
  }

  #givenUp(first: Sent | undefined): TransportError {
    const { timeoutMs } = this.#options;
    if (first === undefined) {
      const message = `Gas has cost more than ${this.#maxFee} wei for ${timeoutMs} ms: publish again, or allow more.`;
      return new TransportError("FEE_TOO_HIGH", message, { expected: String(this.#maxFee) });
    }
    const { nonce } = first.attempt;
    const held =
      nonce > this.#used ? ` The owner's nonce ${this.#used} is held by a transaction of somebody else.` : "";
    const hash = first.hashes.at(-1) ?? `with the nonce ${nonce}`;
    const message = `The transaction ${hash} is in no block, and nothing has changed for ${timeoutMs} ms: publish again.${held}`;
    return new TransportError("NO_RECEIPT", message, { actual: hash });
  }
}

/** After how many ms a transaction is sent again of which no answer told that it was taken. */
const UNANSWERED_MS = 2_000;

function feesInHex(fees: Fees): Record<string, string> {
  return Object.fromEntries(Object.entries(fees).map(([name, wei]: [string, bigint]) => [name, toHex(wei)]));
}
