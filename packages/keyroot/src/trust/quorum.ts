import { groupBy } from "../engine/groupBy.ts";
import { withResolvers } from "../engine/language.ts";
import { KeyrootError, TransportError, VerificationError } from "../errors.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";

export interface Vote<T> {
  endpoint: number;
  answer: T;
}

/** A non-empty list of equal answers. */
export type Votes<T> = [Vote<T>, ...Vote<T>[]];

/** The endpoints of a quorum, with their errors and contradictions. */
export class Quorum {
  readonly quorum: number;
  private readonly calls: readonly RpcCall[];
  private readonly errors: KeyrootError[] = [];
  private contradicted = false;

  constructor(calls: readonly RpcCall[], quorum: number) {
    this.calls = calls;
    this.quorum = quorum;
  }

  get count(): number {
    return this.calls.length;
  }

  /** Returns the answer that enough endpoints gave: one vote per endpoint. @throws the errors of `notReached` */
  async agree<T>(request: (call: RpcCall) => Promise<T>, keyOf: (answer: T) => string): Promise<Votes<T>> {
    const votes = await this.findAgreement(request, keyOf);
    if (votes === undefined) throw this.notReached();
    return votes;
  }

  /** Returns the first answer of any endpoint. @throws the errors of `notReached` */
  async first<T>(request: (call: RpcCall) => Promise<T>): Promise<Votes<T>> {
    const votes = await this.poll(request, (votes) => asVotes(votes));
    if (votes === undefined) throw this.notReached();
    return votes;
  }

  /**
   * Returns the answer that enough endpoints gave. Each endpoint has one vote. The result is available as soon as no
   * other answer can get enough votes.
   * @returns undefined if too few endpoints agree
   */
  findAgreement<T>(
    request: (call: RpcCall) => Promise<T>,
    keyOf: (answer: T) => string,
  ): Promise<Votes<T> | undefined> {
    return this.poll(request, (votes, pending) => {
      let [largest, second]: [Vote<T>[], Vote<T>[]] = [[], []];
      for (const group of groupBy(votes, ({ answer }) => keyOf(answer)).values()) {
        if (group.length > largest.length) [largest, second] = [group, largest];
        else if (group.length > second.length) second = group;
      }
      this.contradicted ||= second.length > 0;
      const isDecided = largest.length >= this.quorum && second.length + pending < this.quorum;
      return isDecided ? asVotes(largest) : undefined;
    });
  }

  /**
   * Sends a request to all endpoints at the same time, and returns a result as soon as the votes decide it. Slower
   * endpoints then cause no delay. An endpoint that fails has no vote.
   * @param decide computes the result from the votes so far and the number of pending endpoints. It returns undefined
   * until the votes decide the result.
   * @returns undefined if the votes of all endpoints do not decide the result
   */
  poll<T, R>(
    request: (call: RpcCall) => Promise<T>,
    decide: (votes: Vote<T>[], pending: number) => R | undefined,
  ): Promise<R | undefined> {
    const { promise, resolve, reject } = withResolvers<R | undefined>();
    const votes: Vote<T>[] = [];
    let pending = this.calls.length;
    for (const [endpoint, call] of this.calls.entries()) {
      request(call)
        .then(
          (answer) => votes.push({ endpoint, answer }),
          (error: unknown) => {
            if (!(error instanceof KeyrootError) || error.code === "ABORTED") throw error;
            this.errors.push(error);
          },
        )
        .then(() => {
          pending--;
          const result = decide(votes, pending);
          if (result !== undefined || pending === 0) resolve(result);
        })
        .catch(reject);
    }
    return promise;
  }

  /**
   * Makes the error QUORUM_NOT_REACHED. It is a VerificationError if answers were false or contradicted each other, and
   * a TransportError if answers were only missing. If all false answers have the error HEADER_UNSUPPORTED, this error
   * is returned instead, because it is about the chain and not about the endpoints.
   */
  notReached(): KeyrootError {
    const verdicts = this.errors.filter((error) => error instanceof VerificationError);
    const [verdict] = verdicts;
    // This error is about the chain and not about the endpoints.
    if (verdict && !this.contradicted && verdicts.every(({ code }) => code === "HEADER_UNSUPPORTED")) return verdict;
    const contradiction = this.contradicted ? " Their answers contradict each other." : "";
    const claim = `Fewer than ${this.quorum} of ${this.calls.length} endpoints agree.${contradiction}`;
    const message = [claim, ...new Set(this.errors.map(({ message }) => message))].join(" ");
    const details = { expected: this.quorum, actual: this.errors.map(({ code }) => code) };
    return this.contradicted || verdict
      ? new VerificationError("anchor", "QUORUM_NOT_REACHED", message, details)
      : new TransportError("QUORUM_NOT_REACHED", message, details);
  }
}

function asVotes<T>(votes: readonly Vote<T>[]): Votes<T> | undefined {
  const [first, ...others] = votes;
  return first === undefined ? undefined : [first, ...others];
}
