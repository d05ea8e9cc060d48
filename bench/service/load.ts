/**
 * The load generator of `npm run bench -- service`, which runs in a separate process. For each plan that it receives,
 * it sends back the measured result.
 */
import { randomBytes } from "node:crypto";
import { createHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { Pool } from "undici";

/** A placeholder in a request body, which each request replaces with 40 random hex digits. */
export const RANDOM_USER_ID = "$RANDOM_USER_ID";

/** POST requests of one kind. */
export interface Requests {
  path: string;
  headers: Record<string, string>;
  /** The request bodies, from which each request picks one at random. */
  bodies: string[];
  /** The status of a successful response. */
  status: number;
}

/** The requests to send, in alternation. */
export interface Plan {
  origin: string;
  requests: Requests[];
  /** The number of concurrent requests, each of which has its own connection. */
  connections: number;
  seconds: number;
  /** The maximum number of requests, if `rate` is not set. Default: unlimited. */
  most?: number;
  /**
   * The number of requests per second, regardless of the responses. Without a rate, each connection waits for a
   * response before it sends the next request.
   */
  rate?: number;
}

/**
 * The result of a plan. A response time is in ms, from the time when the request was due until the response was read.
 */
export interface Measured {
  perSecond: number;
  errors: Record<string, number>;
  p50: number;
  p99: number;
  p999: number;
  max: number;
  /** The share of one core that this process used. Near 1, the load generator itself limits the result. */
  loadCores: number;
  /** The longest pause of this process in ms, whether its own work or other processes caused it. */
  loadStall: number;
  /**
   * The seconds of the run whose slowest response took more than `SLOW_MS`. The values are the times of these responses
   * in ms. Undefined for plans without a rate.
   */
  slowSeconds?: Record<number, number>;
}

const SLOW_MS = 50;

process.on("message", (plan: Plan) => {
  void run(plan).then((measured) => process.send?.(measured));
});

async function run(plan: Plan): Promise<Measured> {
  const pool = new Pool(plan.origin, { connections: plan.connections, pipelining: 1 });
  const errors: Record<string, number> = {};
  const times = createHistogram();
  const slowest: number[] = [];
  const started = performance.now();
  const onResponse = (due: number, ms: number) => {
    times.record(Math.max(1, Math.round(ms * 1e6)));
    const second = Math.floor((due - started) / 1000);
    slowest[second] = Math.max(slowest[second] ?? 0, round(ms));
  };
  const send = sender(pool, plan.requests, errors, onResponse);
  const stalls = monitorEventLoopDelay({ resolution: 1 });
  stalls.enable();
  const cpu = process.cpuUsage();
  if (plan.rate === undefined) await closedLoop(plan, send);
  else await openLoop(plan, plan.rate, send);
  const elapsed = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  await pool.close();
  const ms = (percentile: number) => round(times.percentile(percentile) / 1e6);
  return {
    perSecond: Math.round((times.count / elapsed) * 1000),
    errors,
    p50: ms(50),
    p99: ms(99),
    p999: ms(99.9),
    max: round(times.max / 1e6),
    loadCores: round((user + system) / 1000 / elapsed),
    loadStall: round(stalls.max / 1e6),
    ...(plan.rate !== undefined && {
      slowSeconds: Object.fromEntries(Object.entries(slowest).filter(([, ms]) => ms > SLOW_MS)),
    }),
  };
}

/**
 * Sends one request, and records its result.
 * @param due the time in ms when the request was due
 */
type Send = (due: number) => Promise<void>;

function sender(
  pool: Pool,
  kinds: Requests[],
  errors: Record<string, number>,
  onResponse: (due: number, ms: number) => void,
): Send {
  let sent = 0;
  const failed = (what: string) => {
    errors[what] = (errors[what] ?? 0) + 1;
  };
  return async (due) => {
    const kind = kinds[sent++ % kinds.length];
    if (kind === undefined) throw new Error("The plan has no requests.");
    const { path, headers, bodies, status } = kind;
    const body = bodies[Math.floor(Math.random() * bodies.length)] ?? "";
    try {
      const response = await pool.request({
        method: "POST",
        path,
        headers,
        body: body.replaceAll(RANDOM_USER_ID, () => randomBytes(20).toString("hex")),
      });
      await response.body.text();
      if (response.statusCode === status) onResponse(due, performance.now() - due);
      else failed(String(response.statusCode));
    } catch (error) {
      failed((error as NodeJS.ErrnoException).code ?? String(error));
    }
  };
}

/** Sends requests on all connections. Each one sends its next request after the previous response. */
async function closedLoop({ connections, seconds, most = Infinity }: Plan, send: Send): Promise<void> {
  const end = performance.now() + seconds * 1000;
  let sent = 0;
  const connection = async () => {
    for (let now = performance.now(); now < end && sent++ < most; now = performance.now()) await send(now);
  };
  await Promise.all(Array.from({ length: connections }, connection));
}

/** Sends requests at a fixed rate. The time to wait for a free connection counts as response time. */
async function openLoop({ seconds }: Plan, rate: number, send: Send): Promise<void> {
  const started = performance.now();
  const total = Math.ceil(rate * seconds);
  let sent = 0;
  let ended = 0;
  // Do not collect the promises in a list, because the list would grow until the end.
  const allEnded = Promise.withResolvers<undefined>();
  const end = () => {
    if (++ended === total) allEnded.resolve(undefined);
  };
  while (sent < total) {
    await setTimeout(1);
    const arrived = Math.min(total, ((performance.now() - started) / 1000) * rate);
    while (sent < arrived) void send(started + (sent++ / rate) * 1000).then(end);
  }
  await allEnded.promise;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
