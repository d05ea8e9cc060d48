import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import pMap from "p-map";
import type { Database } from "../api/database/database.ts";
import type { ClaimedDelivery, DeliveryState, FinishedDelivery, WebhookDeliveryStore } from "./webhookDeliveries.ts";
import type { WebhookEndpoint, WebhookEndpointStore } from "./webhookEndpoints.ts";
import { nextAttempt } from "./retries.ts";
import type { WebhookResponse, WebhookSender } from "./sendWebhook.ts";

/** Interval in ms at which a replica looks for events and due deliveries. */
const POLL_MS = 1_000;
/** Maximum number of concurrent deliveries per replica and endpoint. */
const CONCURRENCY = 8;
/** Number of deliveries that a replica takes at a time. */
const CLAIMED_AT_ONCE = 32;
/**
 * The time in ms after which another replica may send a delivery that a replica has taken. It is long enough for all
 * deliveries that are taken together to time out.
 */
const VISIBILITY_MS = 90_000;
/** Maximum number of endpoints to which a replica sends concurrently. */
const MAX_LANES = 250;
/** The HTTP status by which an endpoint unsubscribes from events (Standard Webhooks, "Delivery success"). */
const GONE = 410;

export interface DeliveryWorkerOptions {
  endpoints: WebhookEndpointStore;
  deliveries: WebhookDeliveryStore;
  sender: Pick<WebhookSender, "send">;
  logger?: FastifyBaseLogger | undefined;
  now: () => number;
  /** Receives the outcome of each attempt, and its duration in seconds. */
  onAttempt?: ((outcome: DeliveryState, seconds: number) => void) | undefined;
}

/**
 * Creates deliveries for events, and sends them to each endpoint separately, so that a slow endpoint does not delay the
 * others. Each replica runs one worker.
 *
 * Each delivery is sent at least once. If a process ends before it has stored the result, another one sends the
 * delivery again with the same id.
 */
export class DeliveryWorker {
  readonly #options: DeliveryWorkerOptions;
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(options: DeliveryWorkerOptions) {
    this.#options = options;
  }

  /** Runs until `stop` is called. An unreachable database does not delay deliveries of other databases. */
  async run(): Promise<void> {
    await Promise.all(this.#options.deliveries.databases.map((database) => this.#runOver(database)));
  }

  /** Ends `run`. Requests in progress are finished, and unsent deliveries are returned to the queue. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.idle();
  }

  async idle(): Promise<void> {
    while (this.#lanes.size > 0) await Promise.all(this.#lanes.values());
  }

  /** Dispatches events and starts to send due deliveries. @returns whether there may be more events */
  async poll(): Promise<boolean> {
    let more = false;
    for (const database of this.#options.deliveries.databases) if (await this.#pollOver(database)) more = true;
    return more;
  }

  async #runOver(database: Database): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      let more = false;
      try {
        more = await this.#pollOver(database);
      } catch (err) {
        this.#options.logger?.error({ err }, "search for webhook deliveries failed");
      }
      if (!more) await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #pollOver(database: Database): Promise<boolean> {
    const { deliveries, now } = this.#options;
    const more = await deliveries.dispatch(database, now());
    await this.#startLanes(database);
    return more;
  }

  async #startLanes(database: Database): Promise<void> {
    const { deliveries, endpoints, now, logger } = this.#options;
    const due = await deliveries.endpointsDue(database, now());
    const laneOf = (endpointID: string) => `${deliveries.databases.indexOf(database)} ${endpointID}`;
    const idle = due.filter((endpointID) => !this.#lanes.has(laneOf(endpointID)));
    const found = await endpoints.find("endpointID", idle);
    const known = new Set(found.map(({ endpointID }) => endpointID));
    const deleted = idle.filter((endpointID) => !known.has(endpointID));
    await deliveries.dropOf(database, deleted);
    for (const endpoint of shuffle(found.filter(({ paused }) => paused === null))) {
      if (this.#stopping.signal.aborted || this.#lanes.size >= MAX_LANES) return;
      const name = laneOf(endpoint.endpointID);
      const lane = this.#deliverTo(database, endpoint)
        .catch((err: unknown) => {
          logger?.error({ err, endpoint_id: endpoint.endpointID }, "webhook deliveries failed");
        })
        .finally(() => this.#lanes.delete(name));
      this.#lanes.set(name, lane);
    }
  }

  /** Sends due deliveries to one endpoint until no delivery is due. */
  async #deliverTo(database: Database, endpoint: WebhookEndpoint): Promise<void> {
    const { deliveries, endpoints, now } = this.#options;
    const { endpointID, bizID } = endpoint;
    const { signal } = this.#stopping;
    let target: WebhookEndpoint | undefined = endpoint;
    while (target?.paused === null && !signal.aborted) {
      const options = { now: now(), visibilityMs: VISIBILITY_MS, limit: CLAIMED_AT_ONCE };
      const claimed = await deliveries.claim(database, endpointID, options);
      if (claimed.length === 0) return;
      const { url } = target;
      const secrets = await endpoints.secretsOf(endpointID, now());
      // The endpoint was deleted in the meantime. Events are never sent without a signature.
      if (secrets.length === 0) return;
      const results: FinishedDelivery[] = [];
      const unsent: ClaimedDelivery[] = [];
      const gone = new AbortController();
      await pMap(
        claimed,
        async (delivery) => {
          if (signal.aborted || gone.signal.aborted) {
            unsent.push(delivery);
            return;
          }
          const started = performance.now();
          const response = await this.#options.sender.send(url, delivery.event, secrets, now());
          if (response.status === GONE) gone.abort();
          results.push(this.#resultOf(delivery, response, (performance.now() - started) / 1000));
        },
        { concurrency: CONCURRENCY },
      );
      await deliveries.finish(database, results);
      await deliveries.release(database, unsent, now());
      if (gone.signal.aborted) await endpoints.setPaused(endpoint, true, now());
      // Other endpoints may be waiting for a lane. The next round sends the remaining deliveries.
      if (this.#lanes.size >= MAX_LANES) return;
      // The endpoint's URL may have changed, or the endpoint may be paused or deleted.
      target = await endpoints.get(bizID, endpointID);
    }
  }

  #resultOf(
    delivery: ClaimedDelivery,
    { status, error, retryAfterMs }: WebhookResponse,
    seconds: number,
  ): FinishedDelivery {
    const { logger, onAttempt } = this.#options;
    const { endpointID, firstAttempt, event } = delivery;
    const now = this.#options.now();
    const attempts = delivery.attempts + 1;
    const due = error === null ? now : nextAttempt({ attempts, firstAttempt, now, retryAfterMs });
    const state = error === null ? "delivered" : due === undefined ? "failed" : "pending";
    onAttempt?.(state, seconds);
    if (state === "failed")
      logger?.warn({ endpoint_id: endpointID, event_id: event.id, attempts, error }, "webhook delivery failed");
    return { ...delivery, attempts, lastAttempt: now, state, due: due ?? now, status, error };
  }
}

function shuffle<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
