/** A queue in which owners take turns. An owner with many jobs delays every other owner by at most one job per turn. */
export class FairQueue<Job> {
  readonly #maxPerOwner: number;
  /** The waiting jobs of each owner, in the order of the owners' turns. */
  readonly #waiting = new Map<string, Job[]>();

  /** @param maxPerOwner maximum number of waiting jobs per owner */
  constructor(maxPerOwner: number) {
    this.#maxPerOwner = maxPerOwner;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Adds a job. @returns false if the owner has too many waiting jobs */
  add(owner: string, job: Job): boolean {
    const jobs = this.#waiting.get(owner) ?? [];
    if (jobs.length >= this.#maxPerOwner) return false;
    jobs.push(job);
    this.#waiting.set(owner, jobs);
    return true;
  }

  /** Removes and returns the oldest job of the next owner. */
  next(): Job | undefined {
    const [turn] = this.#waiting;
    if (turn === undefined) return undefined;
    const [owner, jobs] = turn;
    const job = jobs.shift();
    this.#waiting.delete(owner);
    // Move the owner to the end of the queue.
    if (jobs.length > 0) this.#waiting.set(owner, jobs);
    return job;
  }
}
