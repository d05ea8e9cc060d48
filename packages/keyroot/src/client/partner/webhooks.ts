import { checkInteger, checkText, invalidArgument, optional } from "../../input/options.ts";
import { checkSubject } from "../answers.ts";
import { type CallOptions, checkCallOptions, checkIdempotencyKey } from "../options.ts";
import type { OperationClient } from "../operationClient.ts";
import type {
  NewWebhookEndpoint,
  RotatedSecret,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookTest,
} from "../operations.ts";
import { iteratePages, type PageOptions } from "../pages.ts";
import {
  DELIVERY_STATES,
  deliveryPage,
  endpoint,
  endpointID,
  endpoints,
  newEndpoint,
  queued,
  rotatedSecret,
  webhookTest,
} from "./answers.ts";

/** Options of operations that create a secret. */
export interface NewSecretOptions extends CallOptions {
  /**
   * 32 to 128 visible ASCII characters. For 24 hours, the same key with the same request returns the same secret.
   * Default: a random key for each call, which all retries of the call share.
   */
  idempotencyKey?: string | undefined;
}

/** Options of `PartnerWebhooks.create`. */
export interface NewEndpointOptions extends NewSecretOptions {
  /** The types of events to receive, such as `key.published`. Default: all types. */
  types?: readonly string[] | undefined;
}

/** Options of `PartnerWebhooks.update`. */
export interface UpdateEndpointOptions extends CallOptions {
  /** The URL to which events are sent from now on. Default: unchanged. */
  url?: string | undefined;
  /** The types of events to receive; an empty list for all types. Default: unchanged. */
  types?: readonly string[] | undefined;
}

/** Options of `PartnerWebhooks.listDeliveries`. */
export interface ListDeliveriesOptions extends PageOptions {
  /** Only deliveries in this state. Default: all. */
  state?: WebhookDelivery["state"] | undefined;
  /** The `event_id` after which the list begins. Default: the newest delivery. */
  after?: string | undefined;
}

/**
 * The partner's webhook endpoints: `webhooks` of `PartnerClient`. It throws the same errors as `PartnerClient`.
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
   * Adds an endpoint. Keep its secret: the service shows it this once.
   * @param url https, on a public host
   */
  async create(url: string, options: NewEndpointOptions = {}): Promise<NewWebhookEndpoint> {
    const { signal, types, idempotencyKey } = checkCallOptions(options, "types", "idempotencyKey");
    const body = { url: checkText("The argument url", url), ...(types !== undefined && { types: checkTypes(types) }) };
    const key = checkIdempotencyKey(idempotencyKey);
    return this.#operations.call("/v1/authdBizSrv/webhooks/create", body, newEndpoint, { signal }, key);
  }

  /** Returns the partner's endpoints in the order of creation. */
  async list(options: CallOptions = {}): Promise<WebhookEndpoint[]> {
    return (await this.#operations.call("/v1/authdBizSrv/webhooks/list", {}, endpoints, options)).endpoints;
  }

  /** Changes where an endpoint receives events, or which types. Repeating the call has no effect. */
  async update(endpointID: string, options: UpdateEndpointOptions = {}): Promise<WebhookEndpoint> {
    const { signal, url, types } = checkCallOptions(options, "url", "types");
    const fields = {
      ...(url !== undefined && { url: checkText("The option url", url) }),
      ...(types !== undefined && { types: checkTypes(types) }),
    };
    return this.#change("/v1/authdBizSrv/webhooks/update", endpointID, fields, { signal });
  }

  /** Pauses an endpoint's deliveries. Repeating the call has no effect. */
  async pause(endpointID: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.#change("/v1/authdBizSrv/webhooks/pause", endpointID, {}, options);
  }

  /** Resumes an endpoint's deliveries. Repeating the call has no effect. */
  async resume(endpointID: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.#change("/v1/authdBizSrv/webhooks/resume", endpointID, {}, options);
  }

  /** Deletes an endpoint with its deliveries. Repeating the call has no effect. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    const body = bodyFor(id);
    const { endpoint_id } = await this.#operations.call("/v1/authdBizSrv/webhooks/delete", body, endpointID, options);
    checkSubject("endpoint", id, endpoint_id);
  }

  /**
   * Replaces an endpoint's secret. Deliveries are also signed with the earlier secrets for 24 hours, so that receivers can
   * switch.
   */
  async rotateSecret(endpointID: string, options: NewSecretOptions = {}): Promise<RotatedSecret> {
    const { signal, idempotencyKey } = checkCallOptions(options, "idempotencyKey");
    const key = checkIdempotencyKey(idempotencyKey);
    const path = "/v1/authdBizSrv/webhooks/rotateSecret";
    const rotated = await this.#operations.call(path, bodyFor(endpointID), rotatedSecret, { signal }, key);
    checkSubject("endpoint", endpointID, rotated.endpoint_id);
    return rotated;
  }

  /** Sends an event of the type `webhook.test`, and returns the endpoint's response. */
  async test(endpointID: string, options: CallOptions = {}): Promise<WebhookTest> {
    return this.#operations.call("/v1/authdBizSrv/webhooks/test", bodyFor(endpointID), webhookTest, options);
  }

  /** Iterates over the deliveries to an endpoint, the newest first. */
  listDeliveries(
    endpointID: string,
    options: ListDeliveriesOptions = {},
  ): AsyncGenerator<WebhookDelivery, void, undefined> {
    const fields = () => ({
      ...bodyFor(endpointID),
      ...(options.state !== undefined && { state: checkState(options.state) }),
      after: optional<string>(checkText, "The option after", options.after),
    });
    const list = { fields, names: ["state"], read: deliveryPage };
    return iteratePages(this.#operations, "/v1/authdBizSrv/webhooks/listDeliveries", list, options);
  }

  /** Delivers one event to an endpoint again, under the same id. */
  async redeliver(endpointID: string, eventID: string, options: CallOptions = {}): Promise<void> {
    const body = { ...bodyFor(endpointID), event_id: checkText("The argument eventID", eventID) };
    await this.#operations.call("/v1/authdBizSrv/webhooks/redeliver", body, queued, options);
  }

  /**
   * Repeats all failed deliveries to an endpoint.
   * @param since only deliveries created then or later, in ms since 1970
   * @returns the number of deliveries
   */
  async redeliverFailed(endpointID: string, since: number, options: CallOptions = {}): Promise<number> {
    const body = { ...bodyFor(endpointID), since: checkInteger("The argument since", since, 0) };
    return (await this.#operations.call("/v1/authdBizSrv/webhooks/redeliverFailed", body, queued, options)).queued;
  }

  async #change(
    path: `/v1/authdBizSrv/webhooks/${"update" | "pause" | "resume"}`,
    endpointID: string,
    fields: object,
    options: CallOptions,
  ): Promise<WebhookEndpoint> {
    const changed = await this.#operations.call(path, { ...bodyFor(endpointID), ...fields }, endpoint, options);
    checkSubject("endpoint", endpointID, changed.endpoint_id);
    return changed;
  }
}

function bodyFor(endpointID: string): { endpoint_id: string } {
  return { endpoint_id: checkText("The argument endpointID", endpointID) };
}

function checkTypes(types: unknown): string[] {
  if (!Array.isArray(types)) throw invalidArgument("The option types", "a list of types of events", types);
  return types.map((type) => checkText("A type of events", type));
}

function checkState(state: unknown): WebhookDelivery["state"] {
  const [found] = DELIVERY_STATES.filter((known) => known === state);
  if (found !== undefined) return found;
  throw invalidArgument("The option state", DELIVERY_STATES.join(" or "), state);
}
