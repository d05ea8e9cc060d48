import { ANSWER } from "../answers.ts";
import type { ListPage } from "../pages.ts";

/** Where a partner receives events. */
export interface WebhookEndpoint {
  endpoint_id: string;
  url: string;
  /** The types of events that it receives; an empty list for all types. */
  types: string[];
  /** Milliseconds since 1970. */
  created: number;
  /** Milliseconds since 1970; null while deliveries are sent. */
  paused: number | null;
}

/** A new endpoint, with the secret that verifies its deliveries. */
export interface NewWebhookEndpoint extends WebhookEndpoint {
  /** `whsec_` and 32 bytes in base64. */
  secret: string;
}

/** A new secret of an endpoint. */
export interface RotatedSecret {
  endpoint_id: string;
  secret: string;
  /** Until then, the earlier secrets sign, too. Milliseconds since 1970. */
  previous_until: number | null;
}

/** The response of an endpoint to a test. */
export interface WebhookTest {
  event_id: string;
  delivered: boolean;
  /** The HTTP status; null without a response. */
  status: number | null;
  /** Why it was not delivered; null if it was. */
  error: string | null;
  /** Milliseconds. */
  duration: number;
}

/** The delivery of an event to an endpoint. */
export interface WebhookDelivery {
  event_id: string;
  type: string;
  state: (typeof DELIVERY_STATES)[number];
  attempts: number;
  /** All times are in milliseconds since 1970. */
  created: number;
  last_attempt: number | null;
  /** Null unless it is pending. */
  next_attempt: number | null;
  /** The HTTP status of the last response; null without one. */
  status: number | null;
  /** Why the last attempt failed; null if it did not. */
  error: string | null;
}

export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;
/** A partner may have 10. */
const MAX_ENDPOINTS = 1000;
const MAX_TYPES = 1000;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const SECRET = /^whsec_[A-Za-z0-9+/]{1,100}={0,2}$/;

export function readEndpoint(where: string, answer: unknown): WebhookEndpoint {
  const { url, types, created, paused } = ANSWER.fields(where, answer, ["url", "types", "created", "paused"]);
  return {
    endpoint_id: readEndpointID(answer),
    url: ANSWER.text(`${where}.url`, url),
    types: ANSWER.list(`${where}.types`, types, MAX_TYPES, (path, type) => ANSWER.text(path, type)),
    created: ANSWER.count(`${where}.created`, created),
    paused: paused === null ? null : ANSWER.count(`${where}.paused`, paused),
  };
}

export function readNewEndpoint(answer: unknown): NewWebhookEndpoint {
  return { ...readEndpoint("endpoint", answer), secret: readSecret(answer) };
}

export function readEndpoints(answer: unknown): WebhookEndpoint[] {
  const { endpoints } = ANSWER.fields("The answer", answer, ["endpoints"]);
  return ANSWER.list("endpoints", endpoints, MAX_ENDPOINTS, readEndpoint);
}

export function readEndpointID(answer: unknown): string {
  const { endpoint_id } = ANSWER.fields("The answer", answer, ["endpoint_id"]);
  return ANSWER.text("endpoint_id", endpoint_id, UUID);
}

export function readRotation(answer: unknown): RotatedSecret {
  const { previous_until: until } = ANSWER.fields("The answer", answer, ["previous_until"]);
  return {
    endpoint_id: readEndpointID(answer),
    secret: readSecret(answer),
    previous_until: until === null ? null : ANSWER.count("previous_until", until),
  };
}

export function readTest(answer: unknown): WebhookTest {
  const { delivered, duration } = ANSWER.fields("The answer", answer, ["delivered", "duration"]);
  return {
    event_id: readEventID("event_id", answer),
    delivered: ANSWER.boolean("delivered", delivered),
    ...readResponse("test", answer),
    duration: ANSWER.count("duration", duration),
  };
}

export function readDeliveryPage(answer: unknown, limit: number): ListPage<WebhookDelivery> {
  const { deliveries, next } = ANSWER.fields("The answer", answer, ["deliveries", "next"]);
  return {
    items: ANSWER.list("deliveries", deliveries, limit, readDelivery),
    next: next === null ? null : ANSWER.text("next", next, UUID),
  };
}

export function readQueued(answer: unknown): number {
  return ANSWER.count("queued", ANSWER.fields("The answer", answer, ["queued"]).queued);
}

function readDelivery(where: string, answer: unknown): WebhookDelivery {
  const names = ["type", "state", "attempts", "created", "last_attempt", "next_attempt"] as const;
  const { type, state, attempts, created, last_attempt, next_attempt } = ANSWER.fields(where, answer, names);
  return {
    event_id: readEventID(where, answer),
    type: ANSWER.text(`${where}.type`, type),
    state: ANSWER.oneOf(`${where}.state`, state, DELIVERY_STATES),
    attempts: ANSWER.count(`${where}.attempts`, attempts),
    created: ANSWER.count(`${where}.created`, created),
    last_attempt: last_attempt === null ? null : ANSWER.count(`${where}.last_attempt`, last_attempt),
    next_attempt: next_attempt === null ? null : ANSWER.count(`${where}.next_attempt`, next_attempt),
    ...readResponse(where, answer),
  };
}

function readResponse(where: string, answer: unknown): Pick<WebhookDelivery, "status" | "error"> {
  const { status, error } = ANSWER.fields(where, answer, ["status", "error"]);
  return {
    status: status === null ? null : ANSWER.count(`${where}.status`, status),
    error: error === null ? null : ANSWER.text(`${where}.error`, error),
  };
}

function readEventID(where: string, answer: unknown): string {
  return ANSWER.text(`${where}.event_id`, ANSWER.fields(where, answer, ["event_id"]).event_id, UUID);
}

function readSecret(answer: unknown): string {
  return ANSWER.secret("secret", ANSWER.fields("The answer", answer, ["secret"]).secret, SECRET);
}
