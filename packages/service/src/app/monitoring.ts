import type { FastifyBaseLogger } from "fastify";
import { ERROR_CODES } from "keyroot/internal/errors";
import { OPERATOR_ERROR_CODES } from "@keyroot/operator/shared";
import { collectDefaultMetrics, Counter, Histogram, Registry } from "prom-client";
import { ServiceError } from "../errors.ts";
import { addressOf } from "../rateLimits/addressOf.ts";
import { makeBaseApp } from "./baseApp.ts";
import type { App } from "./defineOperation.ts";
import { ReadGauges } from "./readGauges.ts";
import { allDatabases, checkRequirements, type Databases } from "../database/database.ts";
import type { KeyPublisher } from "../publishing/keyPublisher.ts";
import { recent } from "../publishing/recent.ts";
import { MinuteLimit, refuseExceeded } from "../rateLimits/minuteLimit.ts";

/** Maximum number of deliveries to count. Counting more rows would take too long. */
const MAX_PENDING = 10_000;
/** Time in ms for which values from the chain are cached. */
const CHAIN_MS = 60_000;
const WEI_PER_ETHER = 1e18;
/** The outcomes of an attempt to deliver an event. */
const OUTCOMES = ["delivered", "pending", "failed"];
/** The codes of failed publications. UNEXPECTED stands for errors without a code. */
const FAILURE_CODES = [...ERROR_CODES, ...OPERATOR_ERROR_CODES, "UNEXPECTED"];
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export interface MonitoringOptions {
  databases: Databases;
  logger?: FastifyBaseLogger;
  /** Maximum requests per minute and address. 0 means no limit. */
  rateLimit: number;
  /** Returns the number of pending webhook deliveries. Counts at most `limit` deliveries in each database. */
  countPending?: (limit: number) => Promise<number>;
  /** The publisher of keys. Undefined if the service does not publish. */
  publisher?: KeyPublisher | undefined;
  /** Seconds after the end of the hold period until an unpublished key is overdue. Default: 3,600. */
  overdueAfter?: number;
}

/** The endpoints for load balancers and monitoring, with functions that connect the endpoints to the API. */
export interface Monitoring {
  /** Serves /healthz, /readyz and /metrics. The app does not listen yet. */
  app: App;
  /** Measures the API's requests and detects when the API closes. */
  observe: (api: App) => void;
  /** Makes /readyz respond that the service is stopping. */
  stop: () => void;
  /** Records the outcome and duration of an attempt to deliver an event. */
  observeDelivery: (outcome: string, seconds: number) => void;
}

/**
 * Creates three endpoints for a separate port. The port need not be public.
 * - /healthz: the process responds
 * - /readyz: the service accepts requests and reaches its databases
 * - /metrics: durations by route and status for Prometheus, without ids. Also responds without the databases
 */
export function makeMonitoring({
  databases,
  logger,
  rateLimit,
  countPending,
  publisher,
  overdueAfter = 3_600,
}: MonitoringOptions): Monitoring {
  const limit = rateLimit > 0 ? new MinuteLimit(rateLimit) : undefined;
  const app = makeBaseApp({
    logger,
    countAddress: (request) => {
      refuseExceeded(limit?.count(addressOf(request)), "requests from your address");
    },
  });
  const register = new Registry();
  collectDefaultMetrics({ register });
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "Duration of requests by method, route and status.",
    labelNames: ["method", "route", "status"],
    buckets: BUCKETS_SECONDS,
    registers: [register],
  });
  const deliveries = new Histogram({
    name: "keyroot_webhook_attempt_duration_seconds",
    help: "Duration of attempts to deliver events by outcome: delivered, pending (to be tried again) or failed.",
    labelNames: ["outcome"],
    buckets: [...BUCKETS_SECONDS, 10, 15],
    registers: [register],
  });
  for (const outcome of OUTCOMES) deliveries.zero({ outcome });
  const gauges = new ReadGauges(register, (metric, err) => {
    app.log.warn({ metric, err }, "a metric cannot be read");
  });
  if (countPending !== undefined)
    gauges.add(
      "keyroot_webhook_pending_deliveries",
      `Pending deliveries of events, counting at most ${MAX_PENDING} in each database.`,
      () => countPending(MAX_PENDING),
    );
  if (publisher !== undefined) {
    observeKeys(gauges, publisher, overdueAfter);
    observeFailures(register, publisher);
    observeOwner(gauges, publisher);
  }
  let stopping = false;

  // Monitoring sends requests every few seconds, so the app logs only failed requests.
  const logLevel = (["error", "fatal", "silent"] as const).find((level) => level === app.log.level) ?? "warn";
  app.get("/healthz", { logLevel }, () => ({ status: "ok" }));
  app.get("/readyz", { logLevel }, async () => {
    if (stopping) throw new ServiceError(503, "UNAVAILABLE", "The service is stopping.", { retryAfter: 1 });
    for (const refusal of await Promise.all(allDatabases(databases).map((database) => checkRequirements(database))))
      if (refusal !== undefined) throw new ServiceError(503, "UNAVAILABLE", refusal, { retryAfter: 60 });
    return { status: "ready" };
  });
  app.get("/metrics", { logLevel }, async (_request, reply) => {
    await gauges.refresh();
    return reply.type(register.contentType).send(await register.metrics());
  });
  return {
    app,
    stop: () => {
      stopping = true;
    },
    observeDelivery: (outcome, seconds) => {
      deliveries.observe({ outcome }, seconds);
    },
    observe: (api) => {
      api.addHook("onResponse", (request, reply, done) => {
        const route = request.routeOptions.url ?? "none";
        durations.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
        done();
      });
      api.addHook("preClose", (done) => {
        stopping = true;
        done();
      });
    },
  };
}

function observeKeys(gauges: ReadGauges, publisher: KeyPublisher, overdueAfter: number): void {
  gauges.add(
    "keyroot_publishing_differences",
    "Roots for which the chain, the files and the databases differed at the last check, up to 100 in each database.",
    async () => (await publisher.listDifferences()).length,
  );
  gauges.add(
    "keyroot_overdue_keys",
    `Keys without a published root whose hold period ended more than ${overdueAfter} seconds ago.`,
    () => publisher.countPublishable(overdueAfter),
  );
}

function observeFailures(register: Registry, { failures }: KeyPublisher): void {
  new Counter({
    name: "keyroot_publishing_failures_total",
    help: "Failed publications of this replica by error code. COST_LIMIT_REACHED: nothing more is sent until the limit allows it.",
    labelNames: ["code"],
    registers: [register],
    collect() {
      this.reset();
      // Prometheus counts increases. It would not see the first failure of a series that begins with 1.
      for (const code of FAILURE_CODES) this.inc({ code }, 0);
      for (const [code, count] of failures) this.inc({ code }, count);
    },
  });
}

/** Measures the owner's balance and the gas price. If the chain does not respond, both are NaN and raise no alert. */
function observeOwner(gauges: ReadGauges, publisher: KeyPublisher): void {
  const checkChain = recent(() => publisher.checkChain(), Date.now, CHAIN_MS);
  const etherOf = (wei: string | undefined) => (wei === undefined ? NaN : Number(wei) / WEI_PER_ETHER);
  gauges.add(
    "keyroot_owner_balance_ether",
    "Balance of the registry's owner, which pays for publishing, in ether; NaN if the chain does not respond.",
    async () => etherOf((await checkChain()).state?.balance),
  );
  gauges.add(
    "keyroot_gas_price_ether",
    "Current price per unit of gas in ether; NaN if the chain does not respond.",
    async () => etherOf((await checkChain()).state?.fee),
  );
}
