import { checkInteger, checkText, invalidArgument, optional } from "keyroot/internal/input";
import { about, boolean, count, list, object, uuid } from "../shared/answers.ts";
import { type CallOptions, checkCallOptions, checkCreateOptions, type CreateTokenOptions } from "../shared/options.ts";
import type { OperationClient } from "../shared/operationClient.ts";
import type {
  AnswerOf,
  NewWebhookEndpoint,
  RotatedSecret,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookTest,
} from "../shared/operations.ts";
import { iteratePages, page, type PageOptions } from "../shared/pages.ts";
import {
  newWebhookEndpoint,
  rotatedSecret,
  webhookDelivery,
  webhookEndpoint,
  webhookTest,
} from "../shared/answerChecks.ts";

const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;

const endpoints = object<AnswerOf<"/v1/authdBizSrv/webhooks/list">>({
  ...{ enabled: boolean, endpoints: list(webhookEndpoint) },
});
const deletedEndpoint = object<{ endpoint_id: string }>({ endpoint_id: uuid });
const deliveryPage = page("deliveries", webhookDelivery);
const queued = object<{ queued: number }>({ queued: count });

/** The options of `PartnerWebhooks.create`. */
export interface NewEndpointOptions extends CreateTokenOptions {
  /** The event types to receive, such as `key.published`. Default: all types. */
  types?: readonly string[] | undefined;
}

/** The options of `PartnerWebhooks.update`. */
export interface UpdateEndpointOptions extends CallOptions {
  /** The new URL of the endpoint. Default: unchanged. */
  url?: string | undefined;
  /** The event types to receive. An empty list selects all types. Default: unchanged. */
  types?: readonly string[] | undefined;
}

/** The options of `PartnerWebhooks.listDeliveries`. */
export interface ListDeliveriesOptions extends PageOptions {
  /** The state of the deliveries to list. Default: deliveries in all states. */
  state?: WebhookDelivery["state"] | undefined;
  /**
   * The `event_id` of a delivery. The list begins after this delivery. Default: the list begins with the newest
   * delivery.
   */
  after?: string | undefined;
}

/**
 * The operations for the partner's webhook endpoints. They are in the `webhooks` field of `PartnerClient`, and throw
 * the same errors as the client's other operations.
 * @example
 * const { webhooks } = new PartnerClient({ serviceUrl: "https://keys.example", bizID, serverToken });
 * const { endpoint_id, secret } = await webhooks.create("https://app.example/webhooks");
 */
export class PartnerWebhooks {
  readonly #operations: OperationClient;

  constructor(operations: OperationClient) {
    this.#operations = operations;
  }

  /**
   * Adds a webhook endpoint. Store its secret, because no other operation returns it.
   * @param url https, on a public host
   */
  async create(url: string, options: NewEndpointOptions = {}): Promise<NewWebhookEndpoint> {
    const { signal, types, idempotencyKey } = checkCreateOptions(options, "types");
    const body = { url: checkText("The url argument", url), ...(types !== undefined && { types: checkTypes(types) }) };
    return this.#operations.call(
      "/v1/authdBizSrv/webhooks/create",
      body,
      newWebhookEndpoint,
      { signal },
      idempotencyKey,
    );
  }

  /** Returns the partner's webhook endpoints in the order of creation. */
  async list(options: CallOptions = {}): Promise<WebhookEndpoint[]> {
    return (await this.#operations.call("/v1/authdBizSrv/webhooks/list", {}, endpoints, options)).endpoints;
  }

  /** Changes the URL or the event types of a webhook endpoint. Repeating the call has no effect. */
  async update(endpointID: string, options: UpdateEndpointOptions = {}): Promise<WebhookEndpoint> {
    const { signal, url, types } = checkCallOptions(options, "url", "types");
    const fields = {
      ...(url !== undefined && { url: checkText("The url option", url) }),
      ...(types !== undefined && { types: checkTypes(types) }),
    };
    return this.#change("/v1/authdBizSrv/webhooks/update", endpointID, fields, { signal });
  }

  /** Pauses the deliveries to a webhook endpoint. Repeating the call has no effect. */
  async pause(endpointID: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.#change("/v1/authdBizSrv/webhooks/pause", endpointID, {}, options);
  }

  /** Resumes the deliveries to a webhook endpoint. Repeating the call has no effect. */
  async resume(endpointID: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.#change("/v1/authdBizSrv/webhooks/resume", endpointID, {}, options);
  }

  /** Deletes a webhook endpoint and its deliveries. Repeating the call has no effect. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    const check = about({ endpoint_id: id }, deletedEndpoint);
    await this.#operations.call("/v1/authdBizSrv/webhooks/delete", bodyFor(id), check, options);
  }

  /**
   * Replaces the secret of a webhook endpoint. For 24 hours, the service also signs deliveries with the earlier
   * secrets. Change the secret in the receiver within this time.
   */
  async rotateSecret(endpointID: string, options: CreateTokenOptions = {}): Promise<RotatedSecret> {
    const { signal, idempotencyKey } = checkCreateOptions(options);
    const path = "/v1/authdBizSrv/webhooks/rotateSecret";
    const check = about({ endpoint_id: endpointID }, rotatedSecret);
    return this.#operations.call(path, bodyFor(endpointID), check, { signal }, idempotencyKey);
  }

  /** Sends an event of the type `webhook.test` to a webhook endpoint, and returns the endpoint's response. */
  async test(endpointID: string, options: CallOptions = {}): Promise<WebhookTest> {
    return this.#operations.call("/v1/authdBizSrv/webhooks/test", bodyFor(endpointID), webhookTest, options);
  }

  /** Iterates over the deliveries to a webhook endpoint, the newest delivery first. */
  listDeliveries(
    endpointID: string,
    options: ListDeliveriesOptions = {},
  ): AsyncGenerator<WebhookDelivery, void, undefined> {
    const fields = () => ({
      ...bodyFor(endpointID),
      ...(options.state !== undefined && { state: checkState(options.state) }),
      after: optional<string>(checkText, "The after option", options.after),
    });
    const list = { fields, names: ["state"], read: deliveryPage };
    return iteratePages(this.#operations, "/v1/authdBizSrv/webhooks/listDeliveries", list, options);
  }

  /** Delivers an event to a webhook endpoint again. The new delivery has the same event id. */
  async redeliver(endpointID: string, eventID: string, options: CallOptions = {}): Promise<void> {
    const body = { ...bodyFor(endpointID), event_id: checkText("The eventID argument", eventID) };
    await this.#operations.call("/v1/authdBizSrv/webhooks/redeliver", body, queued, options);
  }

  /**
   * Repeats all failed deliveries to a webhook endpoint.
   * @param since a time in ms since 1970, before which deliveries are not repeated
   * @returns the number of repeated deliveries
   */
  async redeliverFailed(endpointID: string, since: number, options: CallOptions = {}): Promise<number> {
    const body = { ...bodyFor(endpointID), since: checkInteger("The since argument", since, 0) };
    return (await this.#operations.call("/v1/authdBizSrv/webhooks/redeliverFailed", body, queued, options)).queued;
  }

  async #change(
    path: `/v1/authdBizSrv/webhooks/${"update" | "pause" | "resume"}`,
    endpointID: string,
    fields: object,
    options: CallOptions,
  ): Promise<WebhookEndpoint> {
    const body = { ...bodyFor(endpointID), ...fields };
    return this.#operations.call(path, body, about({ endpoint_id: endpointID }, webhookEndpoint), options);
  }
}

function bodyFor(endpointID: string): { endpoint_id: string } {
  return { endpoint_id: checkText("The endpointID argument", endpointID) };
}

function checkTypes(types: unknown): string[] {
  if (!Array.isArray(types)) throw invalidArgument("The types option", "a list of event types", types);
  return types.map((type) => checkText("An event type", type));
}

function checkState(state: unknown): WebhookDelivery["state"] {
  const [found] = DELIVERY_STATES.filter((known) => known === state);
  if (found !== undefined) return found;
  throw invalidArgument("The state option", DELIVERY_STATES.join(" or "), state);
}
