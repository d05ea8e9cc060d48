import { sql } from "drizzle-orm";
import { collectDefaultMetrics, Histogram, Registry } from "prom-client";
import { ServiceError } from "keyroot/errors";
import type { ServiceContext } from "../http/context.ts";
import type { App } from "../http/defineOperation.ts";

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * Adds the endpoints for load balancers and monitoring: /healthz (the process responds), /readyz (it accepts requests and
 * reaches its databases) and /metrics (for Prometheus: durations by route and status, without ids).
 */
export function monitoringRoutes(app: App, { databases }: ServiceContext): void {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "Duration of requests by method, route and status.",
    labelNames: ["method", "route", "status"],
    buckets: BUCKETS_SECONDS,
    registers: [register],
  });
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url ?? "none";
    durations.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    done();
  });

  let stopping = false;
  app.addHook("preClose", (done) => {
    stopping = true;
    done();
  });

  // These requests come every few seconds: log only their errors, and nothing below the service's own level.
  const logLevel = (["error", "fatal", "silent"] as const).find((level) => level === app.log.level) ?? "warn";
  const hidden = { schema: { hide: true }, logLevel } as const;
  app.get("/healthz", hidden, () => ({ status: "ok" }));
  app.get("/readyz", hidden, async () => {
    if (stopping) throw new ServiceError(503, "UNAVAILABLE", "The service is stopping.", { retryAfter: 1 });
    const all = new Set([databases.home, ...Object.values(databases.regions)]);
    await Promise.all([...all].map((database) => database.execute(sql`select 1`)));
    return { status: "ready" };
  });
  app.get("/metrics", hidden, async (_request, reply) =>
    reply.type(register.contentType).send(await register.metrics()),
  );
}
