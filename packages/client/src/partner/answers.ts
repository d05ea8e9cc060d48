import {
  about,
  boolean,
  conflictingKeys,
  count,
  cursor,
  KEY_OR_NONE_FIELDS,
  list,
  nullable,
  object,
  oneOf,
  optional,
  secret,
  text,
  USER_FIELDS,
  userID,
  uuid,
  withValidKey,
} from "../shared/answers.ts";
import { data } from "../shared/auditLog.ts";
import { page } from "../shared/pages.ts";
import type {
  AnswerOf,
  CreatedUser,
  DeactivatedUser,
  ErasedUser,
  EventPage,
  KeyEvent,
  KeyOfUser,
  NewWebhookEndpoint,
  PartnerEvent,
  ShadowUser,
  RotatedSecret,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookTest,
} from "../shared/operations.ts";
import { isObject } from "keyroot/internal/input";
import type { ServiceError } from "../errors.ts";
import type { KeyType, Region } from "keyroot/internal/formats";
import type { UserID } from "keyroot/internal/formats";
import { toServiceError } from "../shared/problem.ts";

/** A user to create. If `context` is set, the user also receives a refresh token for this device or purpose. */
export interface UserToCreate {
  /** The user id: 32 characters of zBase32, or 40 hex digits. */
  userID: string;
  region: Region;
  /** The device or purpose of the refresh token, at most 200 characters. By default, the service creates no token. */
  context?: string | undefined;
}

/** The result for one user: the created user and the requested token, or the service's error. */
export type CreateUsersResult = (CreatedUser & { token?: string | undefined }) | { error: ServiceError };

export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;

/** Checks a user refresh token: a prefix and 256 random bits. */
const userToken = secret(/^kru_[\x21-\x7e]{1,495}$/);
const webhookSecret = secret(/^whsec_[A-Za-z0-9+/]{1,100}={0,2}$/);

const CREATED_FIELDS = { status: oneOf(201), ...USER_FIELDS };
export const createdUser = object<CreatedUser>(CREATED_FIELDS);
const createdWithToken = object<CreatedUser & { token?: string | undefined }>({
  ...{ ...CREATED_FIELDS, token: optional(userToken) },
});
const refusedUser = object<{ status: number; code: string; detail: string }>({
  ...{ status: count, code: text(), detail: text() },
});
const isRefused = (item: unknown) => isObject(item) && typeof item["status"] === "number" && item["status"] >= 400;
export const createdUsers = (max: number) =>
  object<AnswerOf<"/v1/authdBizSrv/users/createMany">>({
    users: list((where, item) => (isRefused(item) ? refusedUser : createdWithToken)(where, item), max),
  });
export const createdToken = object<{ token: string }>({ token: userToken });
export const partnerUser = object<ShadowUser>({ ...USER_FIELDS, deactivated: nullable(count) });
export const userPage = page("users", partnerUser, userID);
export const deactivatedUser = object<DeactivatedUser>({ user_id: userID, deactivated: count });
export const erasedUser = object<ErasedUser>({ user_id: userID, erased: count, key: oneOf("deleted", "remains") });
const keyEvent = object<KeyEvent>({
  type: oneOf("registered", "conflict", "withdrawn", "discarded", "approved"),
  key_id: text(),
  at: count,
  after_withdrawal: boolean,
});
export const keyOfUser = (keyType: KeyType) =>
  withValidKey(
    object<KeyOfUser>({
      ...{ user_id: userID, ...KEY_OR_NONE_FIELDS, conflicting_keys: conflictingKeys },
      // The service currently stores 100 events. A newer service may store more events.
      events: list(keyEvent, 1000),
    }),
    keyType,
  );

const partnerEvent = object<PartnerEvent>({ type: text(), at: count, id: uuid, data });
export const eventPage = (limit: number) => object<EventPage>({ events: list(partnerEvent, limit), cursor });

const ENDPOINT_FIELDS = {
  ...{ endpoint_id: uuid, url: text(), types: list(text(), 1000) },
  ...{ created: count, paused: nullable(count) },
};
const RESPONSE_FIELDS = { status: nullable(count), error: nullable(text()) };
export const endpoint = object<WebhookEndpoint>(ENDPOINT_FIELDS);
export const newEndpoint = object<NewWebhookEndpoint>({ ...ENDPOINT_FIELDS, secret: webhookSecret });
export const endpoints = object<AnswerOf<"/v1/authdBizSrv/webhooks/list">>({
  enabled: boolean,
  // A partner can currently have 10 endpoints. A newer service may allow more endpoints.
  endpoints: list(endpoint, 1000),
});
export const endpointID = object<{ endpoint_id: string }>({ endpoint_id: uuid });
export const rotatedSecret = object<RotatedSecret>({
  ...{ endpoint_id: uuid, secret: webhookSecret, previous_until: nullable(count) },
});
export const webhookTest = object<WebhookTest>({
  ...{ event_id: uuid, delivered: boolean, ...RESPONSE_FIELDS, duration: count },
});
export const deliveryPage = page(
  "deliveries",
  object<WebhookDelivery>({
    ...{ event_id: uuid, type: text(), state: oneOf(...DELIVERY_STATES), attempts: count, created: count },
    ...{ last_attempt: nullable(count), next_attempt: nullable(count), ...RESPONSE_FIELDS },
  }),
);
export const queued = object<{ queued: number }>({ queued: count });

/**
 * Returns the results for a request's users, in the order of the request.
 * @throws TransportError SERVICE_ANSWER_INVALID
 */
export function toResults(
  { users }: AnswerOf<"/v1/authdBizSrv/users/createMany">,
  wanted: readonly { id: UserID; region: Region; context: string | undefined }[],
): CreateUsersResult[] {
  return wanted.map(({ id, region, context }, i) => {
    const { [i]: result } = users;
    if (result !== undefined && "code" in result)
      return { error: toServiceError(`The service rejects the user ${id}`, result.status, { ...result }) };
    const where = `answer.users[${i}]`;
    const created = about({ user_id: id, region }, createdWithToken)(where, result);
    return context === undefined ? created : { ...created, ...createdToken(where, created) };
  });
}
