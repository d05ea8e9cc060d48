import { randomFault } from "../seededRandom.ts";
import { type Forward, RpcProxy, type RpcOutcome, type RpcRequest } from "../servers/rpcProxy.ts";
import { appliesTo, FAULT_NAMES, FAULTS, type FaultName, type FaultSettings } from "./faults.ts";

/** The calls that a fault affects. */
interface Injection {
  /** Default: all methods that the fault applies to. */
  methods?: readonly string[];
  /** Number of affected calls. Default: 1. */
  times?: number;
  /** Number of matching calls before the fault begins. Default: 0. */
  after?: number;
}

/** Random faults. The same seed and the same calls give the same faults. */
interface RandomFaults {
  seed: number;
  /** Number of affected calls per 1,000 calls. */
  perMille: number;
  /** Default: all. */
  faults?: readonly FaultName[];
}

/** A fault that affected a call. */
interface InjectedFault {
  fault: FaultName;
  method: string;
  /** The number of the call since the start, from 1. */
  call: number;
}

interface PendingInjection extends Required<Pick<Injection, "times" | "after">> {
  fault: FaultName;
  methods: readonly string[] | undefined;
}

/** Starts a proxy in front of a chain's endpoint, over HTTP. It has no faults until they are injected. */
export async function startFaultyEndpoint(
  chainUrl: string,
  settings: Partial<FaultSettings> = {},
): Promise<FaultyEndpoint> {
  const endpoint = new FaultyEndpoint(chainUrl, { slowMs: 300, retryAfterS: 1, lag: 2, ...settings });
  await endpoint.start();
  return endpoint;
}

class FaultyEndpoint extends RpcProxy {
  /** All faults so far, in their order. */
  readonly injected: InjectedFault[] = [];
  /** Runs before a call is forwarded or a fault affects it. May delay the call. */
  onCall: ((method: string, call: number) => unknown) | undefined;

  readonly #settings: FaultSettings;
  readonly #injections: PendingInjection[] = [];
  #random: RandomFaults | undefined;
  #rate: { requests: number; perMs: number; times: number[] } | undefined;
  /** The last HTTP request, and whether it is above the rate. */
  #limited = { httpRequest: 0, isOver: false };

  constructor(chainUrl: string, settings: FaultSettings) {
    super(chainUrl, (request, forward) => this.#outcomeOf(request, forward));
    this.#settings = settings;
  }

  /** Injects a fault into the next matching calls. If several injections match, the first one is used. */
  inject(fault: FaultName, { methods, times = 1, after = 0 }: Injection = {}): void {
    this.#injections.push({ fault, methods, times, after });
  }

  /** Injects random faults, in addition to other injections. */
  injectAtRandom(faults: RandomFaults): void {
    this.#random = faults;
  }

  /** Sets a limit for requests. Above it, the endpoint responds with 429. */
  limitRate(requests: number, perMs: number): void {
    this.#rate = { requests, perMs, times: [] };
  }

  /** Returns the number of calls that a fault affected. Default: all faults. */
  faults(fault?: FaultName): number {
    return this.injected.filter((one) => fault === undefined || one.fault === fault).length;
  }

  async #outcomeOf(call: RpcRequest, forward: Forward): Promise<RpcOutcome | undefined> {
    const number = this.requests.length;
    // The rate limits HTTP requests.
    const { httpRequests } = this;
    if (this.#limited.httpRequest !== httpRequests)
      this.#limited = { httpRequest: httpRequests, isOver: this.#isOverRate() };
    const limited = this.#limited.isOver;
    await this.onCall?.(call.method, number);
    const fault = limited
      ? "tooManyRequests"
      : (this.#injectedFault(call.method) ?? this.#randomFault(call.method, number));
    if (fault === undefined) return undefined;
    this.injected.push({ fault, method: call.method, call: number });
    return FAULTS[fault].apply(call, forward, this.#settings);
  }

  #injectedFault(method: string): FaultName | undefined {
    for (const injection of this.#injections) {
      const { fault, methods } = injection;
      if (injection.times === 0 || !(methods?.includes(method) ?? appliesTo(fault, method))) continue;
      if (injection.after > 0) {
        injection.after--;
        continue;
      }
      injection.times--;
      return fault;
    }
    return undefined;
  }

  #randomFault(method: string, call: number): FaultName | undefined {
    if (this.#random === undefined) return undefined;
    const { seed, perMille, faults = FAULT_NAMES } = this.#random;
    return randomFault(`${seed}:${call}`, perMille, () => faults.filter((fault) => appliesTo(fault, method)));
  }

  #isOverRate(): boolean {
    if (this.#rate === undefined) return false;
    const { requests, perMs, times } = this.#rate;
    const now = performance.now();
    this.#rate.times = times.filter((time) => time > now - perMs);
    if (this.#rate.times.length >= requests) return true;
    this.#rate.times.push(now);
    return false;
  }
}

export type { FaultyEndpoint };
