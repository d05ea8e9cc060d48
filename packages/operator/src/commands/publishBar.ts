import type { PublishEvent } from "../publisher/publishEvents.ts";
import { formatCount } from "../plural.ts";
import { describeGwei } from "./describeAmounts.ts";
import type { Progress } from "./progress.ts";

/** The progress bar of `publish`, which also shows the number of transactions, the gas used and the gas price. */
export class PublishBar {
  readonly #progress: Progress;
  #transactions = 0;
  #included = 0;
  #gas = 0;
  #price: bigint | undefined;
  #stage: string | undefined;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  take(event: PublishEvent): void {
    if (event.event === "planned" || event.event === "resumed" || event.event === "replanned") {
      this.#transactions = event.batches;
      this.#included = 0;
    } else if (event.event === "included") {
      this.#included++;
      this.#gas += event.added?.gasUsed ?? 0;
      this.#price = event.added?.gasPrice ?? this.#price;
    } else if (event.event === "reorganized") {
      this.#included--;
    }
  }

  /** Shows the progress of a stage in users. @returns true if the stage is new */
  show(stage: string, done: number, users: number): boolean {
    const price = this.#price === undefined ? "" : ` at ${describeGwei(this.#price)}`;
    const note = `${this.#included}/${this.#transactions} transactions, ${formatCount(this.#gas)} gas${price}`;
    this.#progress.update(stage, done, users, "users", stage === "adding roots" ? note : "");
    const isNew = stage !== this.#stage;
    this.#stage = stage;
    return isNew;
  }
}
