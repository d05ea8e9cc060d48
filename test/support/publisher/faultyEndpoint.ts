import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Listening } from "@keyroot/service/stack";
import { randomFault } from "../seededRandom.ts";
import { serve } from "../servers/servers.ts";
import {
  appliesTo,
  type Call,
  FAULT_NAMES,
  FAULTS,
  type FaultName,
  type FaultSettings,
  type Outcome,
} from "./faults.ts";

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

const HEADERS = { "Content-Type": "application/json" };

/** Starts a proxy in front of a chain's endpoint, over HTTP. It has no faults until they are injected. */
export async function startFaultyEndpoint(
  chainUrl: string,
  settings: Partial<FaultSettings> = {},
): Promise<FaultyEndpoint> {
  const endpoint = new FaultyEndpoint(chainUrl, { slowMs: 300, retryAfterS: 1, lag: 2, ...settings });
  await endpoint.start();
  return endpoint;
}

class FaultyEndpoint {
  /** The chain's endpoint. It changes if the chain is restarted. */
  chainUrl: string;
  /** All faults so far, in their order. */
  readonly injected: InjectedFault[] = [];
  /** Runs before a call is forwarded or a fault affects it. May delay the call. */
  onCall: ((method: string, call: number) => unknown) | undefined;

  readonly #settings: FaultSettings;
  readonly #injections: PendingInjection[] = [];
  #random: RandomFaults | undefined;
  #rate: { requests: number; perMs: number; times: number[] } | undefined;
  #call = 0;
  #server!: Listening;

  constructor(chainUrl: string, settings: FaultSettings) {
    this.chainUrl = chainUrl;
    this.#settings = settings;
  }

  async start(): Promise<void> {
    this.#server = await serve((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        // The chain is not running.
        response.writeHead(502).end(String(error));
      });
    });
  }

  get url(): string {
    return this.#server.url;
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
  count(fault?: FaultName): number {
    return this.injected.filter((one) => fault === undefined || one.fault === fault).length;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as Call | Call[];
    const calls = Array.isArray(body) ? body : [body];
    const limited = this.#isOverRate();
    const outcomes: Outcome[] = [];
    for (const call of calls) outcomes.push(await this.#outcomeOf(call, limited));

    // An outcome that is not a JSON-RPC response applies to the whole request.
    const whole = outcomes.find((outcome) => !("answer" in outcome));
    if (whole === undefined) {
      const answers = outcomes.flatMap((outcome) => ("answer" in outcome ? [outcome.answer] : []));
      response.writeHead(200, HEADERS).end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
    } else if ("status" in whole) {
      response.writeHead(whole.status, whole.headers).end(whole.body);
    } else if ("ending" in whole) {
      if (whole.ending === "reset") request.socket.resetAndDestroy();
      else await once(response, "close");
    }
  }

  async #outcomeOf(call: Call, limited: boolean): Promise<Outcome> {
    const number = ++this.#call;
    await this.onCall?.(call.method, number);
    const fault = limited
      ? "tooManyRequests"
      : (this.#injectedFault(call.method) ?? this.#randomFault(call.method, number));
    const forward = (call: Call) => this.#forward(call);
    if (fault !== undefined) this.injected.push({ fault, method: call.method, call: number });
    return fault === undefined
      ? { answer: await forward(call) }
      : await FAULTS[fault].apply(call, forward, this.#settings);
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

  async #forward(call: Call): Promise<Record<string, unknown>> {
    const init = { method: "POST", headers: HEADERS, body: JSON.stringify(call) };
    return (await (await fetch(this.chainUrl, init)).json()) as Record<string, unknown>;
  }
}

export type { FaultyEndpoint };
