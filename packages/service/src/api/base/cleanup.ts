/**
 * Closes resources in the reverse order of their opening. Replaces `AsyncDisposableStack`, which is missing in Node 22.
 */
export class Cleanup implements AsyncDisposable {
  #closers: (() => unknown)[] = [];

  use<Resource extends AsyncDisposable | Disposable>(resource: Resource): Resource {
    this.defer(() => {
      if (Symbol.asyncDispose in resource) return resource[Symbol.asyncDispose]();
      resource[Symbol.dispose]();
    });
    return resource;
  }

  defer(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Moves all resources to a new object, after which the old one closes nothing. */
  move(): Cleanup {
    const moved = new Cleanup();
    moved.#closers = this.#closers;
    this.#closers = [];
    return moved;
  }

  /**
   * Closes all resources, even if closing one of them fails. Repeating the call has no effect.
   * @throws the first error that a resource throws
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const closers = this.#closers.reverse();
    this.#closers = [];
    const failures: unknown[] = [];
    for (const close of closers) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
