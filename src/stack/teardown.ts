/** What was opened so far, to be closed again in the reverse order. */
export class Teardown {
  readonly #steps: (() => Promise<void>)[] = [];
  #run: Promise<void> | undefined;

  /** Adds a step that undoes what was just done. It runs once, before all steps added earlier. */
  add(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  /**
   * Runs all steps, each once however often this is called. A step that fails keeps none of the others from running;
   * the first failure is thrown at the end.
   */
  run(): Promise<void> {
    return (this.#run ??= this.#runAll());
  }

  async #runAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.toReversed()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
