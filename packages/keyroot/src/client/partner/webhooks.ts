import { checkInteger, checkText, invalidArgument, optional } from "../../input/options.ts";
import { checkSubject } from "../answers.ts";
import { type CallOptions, checkCallOptions, checkIdempotencyKey } from "../options.ts";
import { iteratePages, type PageOptions } from "../pages.ts";
import {
  DELIVERY_STATES,
  type NewWebhookEndpoint,
  readDeliveryPage,
  readEndpoint,
  readEndpointID,
  readEndpoints,
  readNewEndpoint,
  readQueued,
  readRotation,
  readTest,
  type RotatedSecret,
  type WebhookDelivery,
  type WebhookEndpoint,
  type WebhookTest,
} from "./webhookAnswers.ts";

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
  /** Where events are sent from now on. Default: unchanged. */
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

type Call = (operation: string, body: object, options: CallOptions, idempotencyKey?: string) => Promise<unknown>;

/**
 * The partner's webhook endpoints: `webhooks` of `PartnerClient`. Its errors are those of `PartnerClient`.
 * @example
 * const { webhooks } = new PartnerClient({ baseUrl: "https://keys.example", bizId, serverToken });
 * const { endpoint_id, secret } = await webhooks.create("https://app.example/webhooks");
 */
export class PartnerWebhooks {
  readonly #call: Call;

  /** @param call sends an operation of the partner */
  constructor(call: Call) {
    this.#call = (operation, ...rest) => call(`webhooks/${operation}`, ...rest);
  }

  /**
   * Adds an endpoint. Keep its secret: the service shows it this once.
   * @param url https, on a public host
   */
  async create(url: string, options: NewEndpointOptions = {}): Promise<NewWebhookEndpoint> {
    const { signal, types, idempotencyKey } = checkCallOptions(options, "types", "idempotencyKey");
    const body = { url: checkText("The argument url", url), ...(types !== undefined && { types: checkTypes(types) }) };
    return readNewEndpoint(await this.#call("create", body, { signal }, checkIdempotencyKey(idempotencyKey)));
  }

  /** Returns the partner's endpoints in the order of creation. */
  async list(options: CallOptions = {}): Promise<WebhookEndpoint[]> {
    return readEndpoints(await this.#call("list", {}, options));
  }

  /** Changes where an endpoint receives events, or which types. Repeating the call has no effect. */
  async update(endpointID: string, options: UpdateEndpointOptions = {}): Promise<WebhookEndpoint> {
    const { signal, url, types } = checkCallOptions(options, "url", "types");
    const fields = {
      ...(url !== undefined && { url: checkText("The option url", url) }),
      ...(types !== undefined && { types: checkTypes(types) }),
    };
    return this.#change("update", endpointID, fields, { signal });
  }

  /** Lets an endpoint's deliveries wait. Repeating the call has no effect. */
  async pause(endpointID: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.#change("pause", endpointID, {}, options);
  }

  /** Sends an endpoint's deliveries again. Repeating the call has no effect. */
  async resume(endpointID: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.#change("resume", endpointID, {}, options);
  }

  /** Deletes an endpoint with its deliveries. Repeating the call has no effect. */
  async delete(endpointID: string, options: CallOptions = {}): Promise<void> {
    const answer = await this.#call("delete", bodyFor(endpointID), options);
    checkSubject("endpoint", endpointID, readEndpointID(answer));
  }

  /** Replaces an endpoint's secret. The earlier ones sign for 24 hours more, so that receivers can change over. */
  async rotateSecret(endpointID: string, options: NewSecretOptions = {}): Promise<RotatedSecret> {
    const { signal, idempotencyKey } = checkCallOptions(options, "idempotencyKey");
    const key = checkIdempotencyKey(idempotencyKey);
    const rotated = readRotation(await this.#call("rotateSecret", bodyFor(endpointID), { signal }, key));
    checkSubject("endpoint", endpointID, rotated.endpoint_id);
    return rotated;
  }

  /** Sends an event of the type `webhook.test`, and returns the endpoint's response. */
  async test(endpointID: string, options: CallOptions = {}): Promise<WebhookTest> {
    return readTest(await this.#call("test", bodyFor(endpointID), options));
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
    const request = (body: object, call: CallOptions) => this.#call("listDeliveries", body, call);
    const list = { operation: "webhooks/listDeliveries", fields, names: ["state"], request, read: readDeliveryPage };
    return iteratePages(list, options);
  }

  /** Delivers one event to an endpoint again, under the same id. */
  async redeliver(endpointID: string, eventID: string, options: CallOptions = {}): Promise<void> {
    const body = { ...bodyFor(endpointID), event_id: checkText("The argument eventID", eventID) };
    readQueued(await this.#call("redeliver", body, options));
  }

  /**
   * Delivers all events again whose delivery to an endpoint failed.
   * @param since only deliveries created then or later, in ms since 1970
   * @returns the number of deliveries
   */
  async redeliverFailed(endpointID: string, since: number, options: CallOptions = {}): Promise<number> {
    const body = { ...bodyFor(endpointID), since: checkInteger("The argument since", since, 0) };
    return readQueued(await this.#call("redeliverFailed", body, options));
  }

  async #change(operation: string, endpointID: string, fields: object, options: CallOptions): Promise<WebhookEndpoint> {
    const answer = await this.#call(operation, { ...bodyFor(endpointID), ...fields }, options);
    const endpoint = readEndpoint("endpoint", answer);
    checkSubject("endpoint", endpointID, endpoint.endpoint_id);
    return endpoint;
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
  const found = DELIVERY_STATES.find((known) => known === state);
  if (found !== undefined) return found;
  throw invalidArgument("The option state", DELIVERY_STATES.join(" or "), state);
}
