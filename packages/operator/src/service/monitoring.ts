import { sql } from "drizzle-orm";
import { collectDefaultMetrics, Histogram, Registry } from "prom-client";
import { ServiceError } from "keyroot/errors";
import type { App } from "./operation.ts";
import type { Service } from "./service.ts";

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * Adds what machines ask: /healthz (the process answers), /readyz (it and its databases can take requests) and /metrics
 * (for Prometheus: counts and durations by route and status, nothing about anybody).
 */
export function monitoring(app: App, { databases }: Service): void {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "How long requests took, by route and status.",
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

  // Quiet about what machines ask every few seconds, and never louder than all the rest.
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
