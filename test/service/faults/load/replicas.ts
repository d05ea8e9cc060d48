import type { ServiceProcess } from "../../../support/service/serviceProcess.ts";

/** Replicas of the service, each in a separate process. */
export class Replicas implements AsyncDisposable {
  readonly #start: (index: number) => Promise<ServiceProcess>;
  readonly #running: ServiceProcess[] = [];
  #requests = 0;
  #kills = 0;

  private constructor(start: (index: number) => Promise<ServiceProcess>) {
    this.#start = start;
  }

  /** @param start starts a replica, also after each kill */
  static async start(count: number, start: (index: number) => Promise<ServiceProcess>): Promise<Replicas> {
    const replicas = new Replicas(start);
    for (let index = 0; index < count; index++) replicas.#running.push(await start(index));
    return replicas;
  }

  /** Returns the next replica's URL, `http://127.0.0.1:<port>`. */
  origin(): string {
    const next = this.#running[this.#requests++ % this.#running.length];
    if (next === undefined) throw new Error("There is no replica.");
    return next.origin;
  }

  /** Returns the replicas that ended without being killed. */
  ended(): string[] {
    return this.#running.flatMap((one, i) => (one.isRunning() ? [] : [`replica ${i + 1} ended by itself`]));
  }

  /**
   * Kills the replicas in turns, and restarts each as systemd would.
   * @param whileDown called before the replica starts again
   */
  async killNext(whileDown?: (index: number) => Promise<void>): Promise<void> {
    const index = this.#kills++ % this.#running.length;
    await this.#running[index]?.kill();
    await whileDown?.(index);
    this.#running[index] = await this.#start(index);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map((one) => one[Symbol.asyncDispose]()));
  }
}
