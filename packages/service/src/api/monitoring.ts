import type { FastifyBaseLogger } from "fastify";
import { collectDefaultMetrics, Histogram, Registry } from "prom-client";
import { ServiceError } from "./base/errors.ts";
import { addressOf } from "./limits/addressOf.ts";
import { makeBaseApp } from "./baseApp.ts";
import type { App } from "./defineOperation.ts";
import { ReadMetrics } from "./readMetrics.ts";
import { allDatabases, checkRequirements, type Databases } from "./database/database.ts";
import { MinuteLimit, refuseExceeded } from "./limits/minuteLimit.ts";

/** Maximum number of deliveries to count. Counting more rows would take too long. */
const MAX_PENDING = 10_000;
const OUTCOMES = ["delivered", "pending", "failed"];
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export interface MonitoringOptions {
  databases: Databases;
  logger?: FastifyBaseLogger;
  /** Maximum requests per minute and address. 0 means no limit. */
  rateLimit: number;
  /** Returns the number of pending webhook deliveries. Counts at most `limit` deliveries in each database. */
  countPending?: (limit: number) => Promise<number>;
  /** Adds the metrics of a subject. */
  addMetrics?: ((metrics: ReadMetrics) => void) | undefined;
}

/**
 * Creates three endpoints for a separate port, which need not be public:
 * - /healthz responds if the process runs;
 * - /readyz responds if the service accepts requests and reaches its databases;
 * - /metrics contains durations by route and status for Prometheus, without ids. It also responds if the databases are
 *   unavailable.
 *
 * The returned app does not listen yet. The other returned functions measure the API and the deliveries, and make
 * /readyz report that the service is stopping.
 */
export function makeMonitoring({ databases, logger, rateLimit, countPending, addMetrics }: MonitoringOptions) {
  const limit = rateLimit > 0 ? new MinuteLimit(rateLimit) : undefined;
  const app = makeBaseApp({
    logger,
    limits: {
      countAddress: (request) => {
        refuseExceeded(limit?.count(addressOf(request)), "requests from your address");
      },
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
  const metrics = new ReadMetrics(register, (metric, err) => {
    app.log.warn({ metric, err }, "a metric cannot be read");
  });
  if (countPending !== undefined)
    metrics.addGauge(
      "keyroot_webhook_pending_deliveries",
      `Pending deliveries of events, counting at most ${MAX_PENDING} in each database.`,
      () => countPending(MAX_PENDING),
    );
  addMetrics?.(metrics);
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
    await metrics.refresh();
    return reply.type(register.contentType).send(await register.metrics());
  });
  return {
    app,
    stop: () => {
      stopping = true;
    },
    observeDelivery: (outcome: string, seconds: number) => {
      deliveries.observe({ outcome }, seconds);
    },
    observe: (api: App) => {
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
