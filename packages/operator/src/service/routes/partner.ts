import type { FastifyRequest } from "fastify";
import { ServiceError } from "keyroot/errors";
import { userIDFromHex } from "keyroot/identity";
import { type App, idempotencyKeyOf, operation } from "../operation.ts";
import { schemas } from "../schemas.ts";
import type { Service } from "../service.ts";
import type { ServerTokenNote, UserTokenNote } from "../store/refreshTokens.ts";
import type { User } from "../store/users.ts";
import type { Bearer } from "../tokens/accessToken.ts";
import { userAnswer } from "./answers.ts";

type Partner = Extract<Bearer, { kind: "partner" }>;

/** Everything under /v1/authdBizSrv/: for partners' access tokens only, and for nobody's users but their own. */
export function partnerRoutes(app: App, service: Service): void {
  const { users, refreshTokens, authenticator, rateLimit, stage, now } = service;
  const bearers = new WeakMap<FastifyRequest, Partner>();
  const bizIDOf = (request: FastifyRequest): string => bearers.get(request)?.bizID ?? never();

  app.addHook("onRequest", async (request) => {
    const bearer = await authenticator.bearer(request, "partner", now());
    await rateLimit(`partner ${bearer.bizID}`);
    bearers.set(request, bearer);
  });

  const userOf = async (request: FastifyRequest, userIDHex: string): Promise<User> => {
    const user = await users.get(bizIDOf(request), userIDFromHex(userIDHex));
    if (user !== undefined) return user;
    throw new ServiceError(404, "USER_UNKNOWN", "You have no such user.");
  };

  operation(app, {
    path: "/v1/authdBizSrv/users/create",
    summary: "Create a shadow user",
    description: "The same creation again answers the same user.",
    tag: "partner",
    specified: true,
    status: 201,
    refusals: [409],
    schema: schemas.createUser,
    async handle({ user_id_hex, region }, request) {
      const user = await users.create(bizIDOf(request), userIDFromHex(user_id_hex), region, now());
      if (user !== undefined) return { status: 201 as const, ...userAnswer(user, stage) };
      throw new ServiceError(409, "USER_ID_TAKEN", "This user id is taken: choose another one.");
    },
  });

  operation(app, {
    path: "/v1/authdBizSrv/users/createRefreshToken",
    summary: "Create a refresh token for a user",
    tag: "partner",
    specified: true,
    idempotent: true,
    refusals: [404, 409],
    schema: schemas.createRefreshToken,
    async handle({ user_id_hex, context }, request) {
      const user = await userOf(request, user_id_hex);
      const making = { now: now(), idempotencyKey: idempotencyKeyOf(request) };
      const { token } = await refreshTokens.makeForUser(user, context, making);
      return { token };
    },
  });

  operation(app, {
    path: "/v1/authdBizSrv/users/get",
    summary: "Look up a user",
    tag: "partner",
    refusals: [404],
    schema: schemas.getUser,
    async handle({ user_id_hex }, request) {
      return userAnswer(await userOf(request, user_id_hex), stage);
    },
  });

  operation(app, {
    path: "/v1/authdBizSrv/users/list",
    summary: "List the partner's users, a page at a time, in the order of their ids",
    tag: "partner",
    schema: schemas.listUsers,
    async handle({ limit, after }, request) {
      const page = await users.list(bizIDOf(request), after, limit);
      return { users: page.users.map((user) => userAnswer(user, stage)), next: page.next };
    },
  });

  operation(app, {
    path: "/v1/authdBizSrv/users/listRefreshTokens",
    summary: "List a user's refresh tokens, without showing them",
    tag: "partner",
    refusals: [404],
    schema: schemas.listRefreshTokens,
    async handle({ user_id_hex }, request) {
      const tokens = await refreshTokens.listOfUser(await userOf(request, user_id_hex));
      return { tokens: tokens.map(userTokenAnswer) };
    },
  });

  operation(app, {
    path: "/v1/authdBizSrv/users/revokeRefreshToken",
    summary: "Revoke a user's refresh token, and with it its access tokens",
    tag: "partner",
    refusals: [404],
    schema: schemas.revokeRefreshToken,
    async handle({ user_id_hex, token_id }, request) {
      const revoked = await refreshTokens.revokeOfUser(await userOf(request, user_id_hex), token_id, now());
      if (revoked !== undefined) return userTokenAnswer(revoked);
      throw new ServiceError(404, "TOKEN_UNKNOWN", "The user has no such refresh token.");
    },
  });

  operation(app, {
    path: "/v1/authdBizSrv/serverTokens/list",
    summary: "List the partner's own refresh tokens, without showing them",
    tag: "partner",
    schema: schemas.listServerTokens,
    async handle(_body, request) {
      return { tokens: (await refreshTokens.listOfPartner(bizIDOf(request))).map(serverTokenAnswer) };
    },
  });

  operation(app, {
    path: "/v1/authdBizSrv/serverTokens/revoke",
    summary: "Revoke one of the partner's own refresh tokens, and with it its access tokens",
    tag: "partner",
    refusals: [404],
    schema: schemas.revokeServerToken,
    async handle({ token_id }, request) {
      const revoked = await refreshTokens.revokeOfPartner(bizIDOf(request), token_id, now());
      if (revoked !== undefined) return serverTokenAnswer(revoked);
      throw new ServiceError(404, "TOKEN_UNKNOWN", "You have no such refresh token.");
    },
  });
}

function userTokenAnswer({ tokenID, context, created, revoked }: UserTokenNote) {
  return { token_id: tokenID, context, created, revoked };
}

function serverTokenAnswer({ tokenID, name, created, revoked }: ServerTokenNote) {
  return { token_id: tokenID, name, created, revoked };
}

function never(): never {
  throw new Error("No operation runs before its bearer is known.");
}
