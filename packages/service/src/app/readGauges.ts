import { withTimeout } from "keyroot/internal/transport";
import { Gauge, type Registry } from "prom-client";

/** Time limit in ms of each value. By default, Prometheus waits 10 s for all metrics together. */
const READ_MS = 7_000;

/**
 * Gauges with values that a database or the chain returns. A value that cannot be read is left out of the metrics, and
 * `keyroot_unread_metrics` then has the value 1 for its metric. The other metrics are not affected.
 */
export class ReadGauges {
  readonly #register: Registry;
  readonly #onFailure: (metric: string, error: unknown) => void;
  readonly #unread: Gauge<"metric">;
  readonly #refreshes: (() => Promise<void>)[] = [];

  /**
   * @param onFailure receives the name of a metric, and the reason why its value cannot be read
   */
  constructor(register: Registry, onFailure: (metric: string, error: unknown) => void) {
    this.#register = register;
    this.#onFailure = onFailure;
    this.#unread = new Gauge({
      name: "keyroot_unread_metrics",
      help: "1 if the value of a metric cannot be read, and the metric is therefore missing. Otherwise 0.",
      labelNames: ["metric"],
      registers: [register],
    });
  }

  add(name: string, help: string, read: () => Promise<number>): void {
    const gauge = new Gauge({ name, help, registers: [this.#register] });
    this.#refreshes.push(async () => {
      try {
        gauge.set(await withTimeout(`The metric ${name}`, READ_MS, undefined, read));
        this.#unread.set({ metric: name }, 0);
      } catch (error) {
        gauge.remove();
        this.#unread.set({ metric: name }, 1);
        this.#onFailure(name, error);
      }
    });
  }

  /** Reads all values. Never fails. */
  async refresh(): Promise<void> {
    await Promise.all(this.#refreshes.map((refresh) => refresh()));
  }
}
