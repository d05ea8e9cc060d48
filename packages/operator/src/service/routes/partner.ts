import type { FastifyRequest } from "fastify";
import { ServiceError } from "keyroot/errors";
import { userIDFromHex } from "keyroot/identity";
import { tokenRefused } from "../http/authenticator.ts";
import type { ServiceContext } from "../http/context.ts";
import { type App, defineOperation, idempotencyKeyOf } from "../http/defineOperation.ts";
import { authorOf } from "../http/requestLog.ts";
import { requirePrincipal } from "../http/requirePrincipal.ts";
import { MAX_LIST_BODY_BYTES, schemas } from "../http/schemas.ts";
import { type User, userIDTaken } from "../store/users.ts";
import { partnerAuditRoutes } from "./audit.ts";
import { eventRoutes } from "./events.ts";
import {
  checkObjection,
  toCreationResponse,
  toEventResponse,
  toKeyResponse,
  toServerTokenResponse,
  toUserResponse,
  toUserTokenResponse,
} from "./responses.ts";
import { webhookRoutes } from "./webhooks.ts";

/** Operations under /v1/authdBizSrv/, which require a partner's access token and reach only that partner's users. */
export function partnerRoutes(app: App, context: ServiceContext): void {
  const { users, bulkCreation, refreshTokens, publicKeys, objections, rateLimits, stage, now } = context;
  const partnerOf = requirePrincipal(app, context, "partner");
  webhookRoutes(app, context, partnerOf);

  const userOf = async (request: FastifyRequest, userIDHex: string): Promise<User> => {
    const user = await users.get(partnerOf(request).bizID, userIDFromHex(userIDHex));
    if (user !== undefined) return user;
    throw userUnknown();
  };
  const userUnknown = () => new ServiceError(404, "USER_UNKNOWN", "You have no user with this id.");

  defineOperation(app, {
    path: "/v1/authdBizSrv/users/create",
    summary: "Create a shadow user",
    description: "Repeating the request returns the same user.",
    tag: "partner",
    specified: true,
    status: 201,
    errors: [409],
    schema: schemas.createUser,
    async handle({ user_id_hex, region }, request) {
      const { bizID } = partnerOf(request);
      const user = await users.create(bizID, userIDFromHex(user_id_hex), region, now(), authorOf(request));
      if (user === undefined) throw userIDTaken();
      return { status: 201 as const, ...toUserResponse(user, stage) };
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/users/createMany",
    summary: "Create up to 500 shadow users, each with a refresh token if it has a context",
    description:
      "The results are in the order of the list. Each user gets what it would get in a request of its own, and counts as one request. With an Idempotency-Key, repeating the request returns the same users and tokens.",
    tag: "partner",
    idempotent: true,
    bodyLimit: MAX_LIST_BODY_BYTES,
    schema: schemas.createUsers,
    async handle({ users: list }, request, reply) {
      const principal = partnerOf(request);
      await rateLimits.countList(principal, reply, list.length);
      const wanted = list.map(({ user_id_hex, ...rest }) => ({ ...rest, userID: userIDFromHex(user_id_hex) }));
      const options = { now: now(), author: authorOf(request), idempotencyKey: idempotencyKeyOf(request) };
      const results = await bulkCreation.create(principal.bizID, wanted, options);
      return { users: results.map((result) => toCreationResponse(result, stage)) };
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/users/createRefreshToken",
    summary: "Create a refresh token for a user",
    tag: "partner",
    specified: true,
    idempotent: true,
    errors: [404, 409],
    schema: schemas.createRefreshToken,
    async handle({ user_id_hex, context: purpose }, request) {
      const user = await userOf(request, user_id_hex);
      if (user.deactivated !== null) throw tokenRefused("deactivated");
      const options = { now: now(), author: authorOf(request), idempotencyKey: idempotencyKeyOf(request) };
      const { token } = await refreshTokens.createForUser(user, purpose, options);
      return { token };
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/users/get",
    summary: "Get a user",
    tag: "partner",
    errors: [404],
    schema: schemas.getUser,
    async handle({ user_id_hex }, request) {
      return toUserResponse(await userOf(request, user_id_hex), stage);
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/users/list",
    summary: "List the partner's users in pages, ordered by id",
    tag: "partner",
    schema: schemas.listUsers,
    async handle({ limit, after }, request) {
      const page = await users.list(partnerOf(request).bizID, after, limit);
      return { users: page.users.map((user) => toUserResponse(user, stage)), next: page.next };
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/users/deactivate",
    summary: "Refuse all tokens of a user permanently",
    description: "The user's public key remains published and verifiable. Repeating the request has no effect.",
    tag: "partner",
    errors: [404],
    schema: schemas.deactivateUser,
    async handle({ user_id_hex }, request) {
      const user = await userOf(request, user_id_hex);
      const deactivated = await users.deactivate(user, now(), authorOf(request));
      return { user_id: user.userID, deactivated };
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/users/erase",
    summary: "Deactivate a user and delete its data permanently",
    description:
      "The id cannot be used again. A public key that is on the chain, or about to be, cannot be deleted: its file and the chain show the user id and the key.",
    tag: "partner",
    errors: [404],
    schema: schemas.eraseUser,
    async handle({ user_id_hex }, request) {
      const { bizID } = partnerOf(request);
      const erased = await users.erase(bizID, userIDFromHex(user_id_hex), now(), authorOf(request));
      if (erased === undefined) throw userUnknown();
      return {
        user_id: erased.userID,
        erased: erased.erased,
        key: erased.keyRemains ? ("remains" as const) : ("deleted" as const),
      };
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/users/listRefreshTokens",
    summary: "List a user's refresh tokens in pages, in the order of creation, without their values",
    tag: "partner",
    errors: [404],
    schema: schemas.listRefreshTokens,
    async handle({ user_id_hex, limit, after }, request) {
      const page = await refreshTokens.listOfUser(await userOf(request, user_id_hex), { limit, after });
      if (page !== undefined) return { tokens: page.tokens.map(toUserTokenResponse), next: page.next };
      throw new ServiceError(404, "TOKEN_UNKNOWN", "The user has no refresh token with the id in `after`.");
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/users/revokeRefreshToken",
    summary: "Revoke a user's refresh token and its access tokens",
    tag: "partner",
    errors: [404],
    schema: schemas.revokeRefreshToken,
    async handle({ user_id_hex, token_id }, request) {
      const user = await userOf(request, user_id_hex);
      const revoked = await refreshTokens.revokeOfUser(user, token_id, now(), authorOf(request));
      if (revoked === undefined)
        throw new ServiceError(404, "TOKEN_UNKNOWN", "The user has no refresh token with this id.");
      return toUserTokenResponse(revoked);
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/publicKeys/get",
    summary: "Get a user's public key with its state, other keys that were offered, and what happened to them",
    tag: "partner",
    errors: [404],
    schema: schemas.getKeyOfUser,
    async handle({ user_id_hex }, request) {
      const user = await userOf(request, user_id_hex);
      const [key, otherKeys, events] = await Promise.all([
        publicKeys.get(user.region, user.userID),
        objections.listUndecided(user),
        objections.listEvents(user),
      ]);
      const keyFields = key === undefined ? { state: "unregistered" as const } : toKeyResponse(key);
      return { user_id: user.userID, ...keyFields, otherKeys, events: events.map(toEventResponse) };
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/publicKeys/discard",
    summary: "Discard a user's public key while it is pending",
    description:
      "The user then has no key, and can register another one. This also decides about all other keys that were offered. Repeating the request has no effect.",
    tag: "partner",
    errors: [404, 409],
    schema: schemas.discardKey,
    async handle({ user_id_hex, keyID }, request) {
      const user = await userOf(request, user_id_hex);
      checkObjection(await objections.discard(user, keyID, now(), authorOf(request)));
      return { user_id: user.userID, keyID, state: "unregistered" as const };
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/publicKeys/approve",
    summary: "Decide for a user's pending public key, although other keys were offered",
    description: "The key is published when its time to object is over. Repeating the request has no effect.",
    tag: "partner",
    errors: [404, 409],
    schema: schemas.approveKey,
    async handle({ user_id_hex, keyID }, request) {
      const user = await userOf(request, user_id_hex);
      checkObjection(await objections.approve(user, keyID, now(), authorOf(request)));
      const key = await publicKeys.get(user.region, user.userID);
      if (key !== undefined) return { user_id: user.userID, ...toKeyResponse(key) };
      throw new ServiceError(404, "PUBLIC_KEY_UNKNOWN", "The user's public key was withdrawn in the meantime.");
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/serverTokens/list",
    summary: "List the partner's own refresh tokens in pages, in the order of creation, without their values",
    tag: "partner",
    errors: [404],
    schema: schemas.listServerTokens,
    async handle({ limit, after }, request) {
      const page = await refreshTokens.listOfPartner(partnerOf(request).bizID, { limit, after });
      if (page !== undefined) return { tokens: page.tokens.map(toServerTokenResponse), next: page.next };
      throw new ServiceError(404, "TOKEN_UNKNOWN", "You have no refresh token with the id in `after`.");
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/serverTokens/revoke",
    summary: "Revoke one of the partner's own refresh tokens and its access tokens",
    tag: "partner",
    errors: [404],
    schema: schemas.revokeServerToken,
    async handle({ token_id }, request) {
      const { bizID } = partnerOf(request);
      const revoked = await refreshTokens.revokeServerToken(bizID, token_id, now(), authorOf(request));
      if (revoked === undefined)
        throw new ServiceError(404, "TOKEN_UNKNOWN", "You have no refresh token with this id.");
      return toServerTokenResponse(revoked);
    },
  });

  eventRoutes(app, context, partnerOf);
  partnerAuditRoutes(app, context, partnerOf);
}
