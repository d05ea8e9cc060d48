import { parseSafeQuantity, toQuantity } from "keyroot/internal/ethereum";
import { TransportError } from "../../errors.ts";
import type { Chain } from "../chain/chain.ts";

/**
 * The number of successive reads with fewer nonces after which a reorganization is assumed if the chain proves nothing.
 */
const MAX_LOWER_READS = 20;
/** The number of attempts to find a block that proves a number of nonces. */
const MAX_PROOF_ATTEMPTS = 3;

/**
 * The number of nonces that an account has used in blocks. Behind a load balancer, a node that lacks the newest blocks
 * may briefly return a lower number. A lower number is accepted only in two cases: a reorganization has replaced the
 * block that proved the higher number, or 20 reads in a row were lower and nothing proved the higher number.
 */
export class UsedNonces {
  readonly #chain: Chain;
  readonly #account: string;
  #count = 0;
  /** A block in whose state the account has used `#count` nonces. */
  #provedAt: number | undefined;
  #lowerReads = 0;
  #proofAttempts = 0;

  /** @param account 0x and 40 hex digits */
  constructor(chain: Chain, account: string) {
    this.#chain = chain;
    this.#account = account;
  }

  /** The number at the last read. All lower nonces are used. */
  get count(): number {
    return this.#count;
  }

  /** Reads the number. @throws the errors of `chain` */
  async read(): Promise<number> {
    const latest = await this.#chain.transactionCount(this.#account, "latest");
    if (latest > this.#count) this.#set(latest);
    else if (latest === this.#count) this.#lowerReads = 0;
    else if (await this.#isReorganized()) this.#set(latest);
    if (latest === this.#count) await this.#prove();
    return this.#count;
  }

  #set(count: number): void {
    this.#count = count;
    this.#provedAt = undefined;
    this.#lowerReads = 0;
    this.#proofAttempts = 0;
  }

  /**
   * Looks for a block whose state proves the number. A single attempt may fail, because the newest block may come from
   * a node that is behind.
   */
  async #prove(): Promise<void> {
    if (this.#count === 0 || this.#provedAt !== undefined || this.#proofAttempts++ >= MAX_PROOF_ATTEMPTS) return;
    const { number } = await this.#chain.block("latest");
    if (((await this.#countAt(number)) ?? -1) >= this.#count) this.#provedAt = number;
  }

  /** Finds out whether a lower number results from a reorganization, or comes from a node that is behind. */
  async #isReorganized(): Promise<boolean> {
    this.#lowerReads++;
    const proved = this.#provedAt === undefined ? undefined : await this.#countAt(this.#provedAt);
    if (proved !== undefined) return proved < this.#count;
    return this.#lowerReads >= MAX_LOWER_READS;
  }

  /** Returns the number at a block, or undefined if the answering node does not have the block. */
  async #countAt(block: number): Promise<number | undefined> {
    try {
      const count = await this.#chain.call("eth_getTransactionCount", [this.#account, toQuantity(block)]);
      return parseSafeQuantity(count);
    } catch (error) {
      if (error instanceof TransportError) return undefined;
      throw error;
    }
  }
}
