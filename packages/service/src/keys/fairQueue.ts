/** A queue that serves owners in turns, so an owner with many jobs delays the others by one job each. */
export class FairQueue<Job> {
  readonly #maxPerOwner: number;
  /** Owners with waiting jobs, the next one first. */
  readonly #waiting = new Map<string, Job[]>();

  /** @param maxPerOwner maximum waiting jobs per owner */
  constructor(maxPerOwner: number) {
    this.#maxPerOwner = maxPerOwner;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Adds a job. @returns false when too many jobs of this owner wait */
  add(owner: string, job: Job): boolean {
    const jobs = this.#waiting.get(owner) ?? [];
    if (jobs.length >= this.#maxPerOwner) return false;
    jobs.push(job);
    this.#waiting.set(owner, jobs);
    return true;
  }

  /** Removes the oldest job of the owner whose turn it is. */
  next(): Job | undefined {
    const [turn] = this.#waiting;
    if (turn === undefined) return undefined;
    const [owner, jobs] = turn;
    const job = jobs.shift();
    this.#waiting.delete(owner);
    // The owner goes to the end of the queue.
    if (jobs.length > 0) this.#waiting.set(owner, jobs);
    return job;
  }
}
