import type { Plan } from "../plan/plan.ts";
import { type Attempt, countKeptAttempts, type Journal } from "./journal.ts";

/** A journal in memory. Use it for a chain that ends with the same process. */
export class MemoryJournal implements Journal {
  #plan: Plan | undefined;
  #attempts: Attempt[] = [];

  async readPlan(): Promise<Plan | undefined> {
    return Promise.resolve(this.#plan);
  }

  async writePlan(plan: Plan): Promise<void> {
    this.#plan = plan;
    return Promise.resolve();
  }

  async recordAttempt(attempt: Attempt): Promise<void> {
    this.#attempts.push(attempt);
    return Promise.resolve();
  }

  attempts(): readonly Attempt[] {
    return this.#attempts;
  }

  async finish(): Promise<void> {
    this.#plan = undefined;
    this.#attempts = this.#attempts.slice(-countKeptAttempts(this.#attempts));
    return Promise.resolve();
  }
}
