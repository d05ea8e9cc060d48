import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { sha256 } from "../samples.ts";
import { serve } from "../servers.ts";
import {
  type Call,
  FAULT_NAMES,
  FAULTS,
  type FaultName,
  type FaultSettings,
  mayBefall,
  type Outcome,
} from "./faults.ts";

/** Which calls a fault befalls. */
interface When {
  /** The methods; all that the fault can befall where none is named. */
  methods?: readonly string[];
  /** How many calls it befalls, then it is over. Default 1. */
  times?: number;
  /** How many calls it spares first. Default 0. */
  after?: number;
}

/** Faults that come at random: the same for the same seed, as far as the calls are the same. */
interface Weather {
  seed: number;
  /** How many calls of a thousand a fault befalls. */
  perMille: number;
  /** Default all. */
  faults?: readonly FaultName[];
}

/** A fault that befell a call. */
interface Befallen {
  fault: FaultName;
  method: string;
  /** Which call it was since the proxy started, counted from 1. */
  call: number;
}

interface Plan extends Required<Pick<When, "times" | "after">> {
  fault: FaultName;
  methods: readonly string[] | undefined;
}

const HEADERS = { "Content-Type": "application/json" };

/** Starts an endpoint in front of a chain, over HTTP: honest, until faults are asked for. */
export async function startFaultyProxy(chainUrl: string, settings: Partial<FaultSettings> = {}): Promise<FaultyProxy> {
  const proxy = new FaultyProxy(chainUrl, { slowMs: 300, retryAfterS: 1, lag: 2, ...settings });
  await proxy.start();
  return proxy;
}

class FaultyProxy {
  /** Where the chain is: another place after it was started again. */
  chainUrl: string;
  /** Every fault so far, in its order. */
  readonly befallen: Befallen[] = [];
  /** How many calls were made of each method. */
  readonly calls = new Map<string, number>();
  /** Is told of each call before it meets its fault or the chain, and may hold it up. */
  onCall: ((method: string, call: number) => unknown) | undefined;
  /** Is told of each answer before it is sent, and may hold it up. */
  onAnswer: ((method: string, call: number) => unknown) | undefined;

  readonly #settings: FaultSettings;
  #plans: Plan[] = [];
  #weather: Weather | undefined;
  #rate: { requests: number; perMs: number; times: number[] } | undefined;
  #call = 0;
  #server: Awaited<ReturnType<typeof serve>> | undefined;

  constructor(chainUrl: string, settings: FaultSettings) {
    this.chainUrl = chainUrl;
    this.#settings = settings;
  }

  async start(): Promise<void> {
    this.#server = await serve((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        // The chain is away.
        response.writeHead(502).end(String(error));
      });
    });
  }

  get url(): string {
    return this.#server?.url ?? "";
  }

  /** Lets the next calls that fit meet a fault. Of several plans that fit, the first holds. */
  plan(fault: FaultName, { methods, times = 1, after = 0 }: When = {}): void {
    this.#plans.push({ fault, methods, times, after });
  }

  /** Lets calls meet faults at random, besides those that are planned. */
  storm(weather: Weather): void {
    this.#weather = weather;
  }

  /** Answers 429 to whoever asks more often. */
  limitRate(requests: number, perMs: number): void {
    this.#rate = { requests, perMs, times: [] };
  }

  /** From now on everything is well. */
  calm(): void {
    this.#plans = [];
    this.#weather = undefined;
    this.#rate = undefined;
  }

  /** How often a fault befell a call; all faults where none is named. */
  count(fault?: FaultName): number {
    return this.befallen.filter((one) => fault === undefined || one.fault === fault).length;
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as Call | Call[];
    const calls = Array.isArray(body) ? body : [body];
    const limited = this.#overRate();
    const outcomes: Outcome[] = [];
    for (const call of calls) outcomes.push(await this.#outcomeOf(call, limited));

    // What is no answer to one call befalls all calls of the request.
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
    this.calls.set(call.method, (this.calls.get(call.method) ?? 0) + 1);
    await this.onCall?.(call.method, number);
    const fault = limited
      ? "tooManyRequests"
      : (this.#plannedFault(call.method) ?? this.#stormyFault(call.method, number));
    const forward = (call: Call) => this.#forward(call);
    if (fault !== undefined) this.befallen.push({ fault, method: call.method, call: number });
    const outcome =
      fault === undefined ? { answer: await forward(call) } : await FAULTS[fault].befall(call, forward, this.#settings);
    await this.onAnswer?.(call.method, number);
    return outcome;
  }

  #plannedFault(method: string): FaultName | undefined {
    for (const plan of this.#plans) {
      if (plan.times === 0 || !(plan.methods?.includes(method) ?? mayBefall(plan.fault, method))) continue;
      if (plan.after > 0) {
        plan.after--;
        continue;
      }
      plan.times--;
      return plan.fault;
    }
    return undefined;
  }

  #stormyFault(method: string, call: number): FaultName | undefined {
    if (this.#weather === undefined) return undefined;
    const { seed, perMille, faults = FAULT_NAMES } = this.#weather;
    const random = (what: string, below: number) =>
      Number.parseInt(sha256(`${seed}:${call}:${what}`).slice(0, 12), 16) % below;
    if (random("whether", 1000) >= perMille) return undefined;
    const possible = faults.filter((fault) => mayBefall(fault, method));
    return possible[random("which", possible.length)];
  }

  #overRate(): boolean {
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

export type { FaultyProxy };
