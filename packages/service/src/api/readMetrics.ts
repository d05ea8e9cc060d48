import { withTimeout } from "keyroot/internal/transport";
import { Counter, Gauge, type Registry } from "prom-client";

/** Time limit in ms of each value. By default, Prometheus waits 10 s for all metrics together. */
const READ_MS = 7_000;

/**
 * Metrics whose values are read from a database. If a metric cannot be read, only this one is left out, and
 * `keyroot_unread_metrics` has the value 1 for it.
 */
export class ReadMetrics {
  readonly #register: Registry;
  readonly #onFailure: (metric: string, error: unknown) => void;
  readonly #unread: Gauge<"metric">;
  readonly #refreshes: (() => Promise<void>)[] = [];

  /** @param onFailure receives the name of a metric, and the reason why its value cannot be read */
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

  addGauge(name: string, help: string, read: () => Promise<number>): void {
    const gauge = new Gauge({ name, help, registers: [this.#register] });
    const show = (value: number) => {
      gauge.set(value);
    };
    const remove = () => {
      gauge.remove();
    };
    this.#add(name, { read, show, remove });
  }

  /** @param read returns the count of each error code */
  addCounter(name: string, help: string, read: () => Promise<ReadonlyMap<string, number>>): void {
    const counter = new Counter({ name, help, labelNames: ["code"], registers: [this.#register] });
    const show = (counts: ReadonlyMap<string, number>) => {
      counter.reset();
      for (const [code, count] of counts) counter.inc({ code }, count);
    };
    const remove = () => {
      counter.reset();
    };
    this.#add(name, { read, show, remove });
  }

  /** Reads all values. Never fails. */
  async refresh(): Promise<void> {
    await Promise.all(this.#refreshes.map((refresh) => refresh()));
  }

  #add<Value>(
    metric: string,
    { read, show, remove }: { read: () => Promise<Value>; show: (value: Value) => void; remove: () => void },
  ): void {
    this.#refreshes.push(async () => {
      try {
        show(await withTimeout(`The metric ${metric}`, READ_MS, undefined, read));
        this.#unread.set({ metric }, 0);
      } catch (error) {
        remove();
        this.#unread.set({ metric }, 1);
        this.#onFailure(metric, error);
      }
    });
  }
}
