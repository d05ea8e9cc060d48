import { answerFrom } from "../api/answerFrom.ts";
import { z } from "zod";
import { userIDFromHex } from "keyroot/internal/identity";
import { actorOf } from "../api/base/author.ts";
import { ServiceError } from "../api/base/errors.ts";
import { tokenRefused } from "./authenticator.ts";
import type { ApiContext } from "../api/context.ts";
import { hideFromBrowsers } from "../api/cors.ts";
import { type Call, type Caller, operationsWith } from "../api/defineOperation.ts";
import {
  bizID,
  eitherUserID,
  limit,
  name,
  named,
  page,
  region,
  strict,
  timestamp,
  tokenContext,
  tokenID,
  userIDHex,
  userIDOf,
} from "../api/fields.ts";
import { requirePartner } from "../partners/operations.ts";
import { requireUser, toUser, userFields } from "../users/operations.ts";
import type { PartnerStore } from "../partners/partners.ts";
import type { UserStore } from "../users/users.ts";
import type { AccessTokens } from "./accessTokens.ts";
import type { BulkCreation, CreatedUser } from "./bulkCreation.ts";
import type { RefreshTokenStore } from "./refreshTokens.ts";
import { listServerTokens, listUserTokens, type PageOptions } from "./listTokens.ts";
import { revokeServerToken, revokeUserToken } from "./revokeToken.ts";

/** Maximum number of users in one creation request. */
const MAX_LIST = 500;
/**
 * Maximum size of the body of a creation request in bytes. Each user takes at most 1,310 bytes, even if every character
 * of the context is escaped (RFC 8259, section 7).
 */
const MAX_LIST_BODY_BYTES = MAX_LIST * 1536;

const metadata = {
  created: timestamp,
  revoked: timestamp
    .nullable()
    .meta({ description: "The time of the token's revocation. Null while the token is active." }),
  last_used: timestamp.nullable().meta({
    description:
      "The start of the hour in which the token was last used. The service stores it some seconds after the use. Null before the first use.",
  }),
};
/** The request fields that select a page of a list of tokens. */
const tokenPage = {
  since: timestamp.optional().meta({
    description: "List only tokens that were created at or after this time. Use it to find the id of a new token.",
  }),
  limit,
  after: tokenID.optional(),
};
const userToken = named("RefreshToken", "A user refresh token without its value.", {
  token_id: tokenID,
  context: tokenContext,
  ...metadata,
});
const serverToken = named("ServerToken", "A server token without its value.", {
  token_id: tokenID,
  name: name.nullable(),
  ...metadata,
});
const revokedServerToken = named("RevokedServerToken", "A revoked server token and its partner.", {
  biz_id: bizID,
  ...serverToken.shape,
});
const createdServerToken = named("CreatedServerToken", "A new server token.", {
  token_id: tokenID,
  token: z.string().meta({ description: "The value of the server token. The service returns it only once." }),
  name: name.nullable(),
  created: timestamp,
});
const userRefreshToken = z
  .string()
  .meta({ description: "The value of the user's refresh token. The service returns it only once." });

export interface TokenContext extends ApiContext {
  users: UserStore;
  partners: PartnerStore;
  refreshTokens: RefreshTokenStore;
  accessTokens: AccessTokens;
  bulkCreation: BulkCreation;
}

const defineOperation = operationsWith<TokenContext>();

export const tokenOperations = [
  /** The exchange of a refresh token for an access token (docs/specification.md, "Endpoints"). */
  defineOperation({
    path: "/v1/public/auth/jwt",
    callers: ["public"],
    specified: true,
    summary: "Exchange a server token or a refresh token for an access token",
    body: strict({
      biz_id: bizID,
      token: z.string().min(1).max(128).meta({ description: "The value of a server token or a user's refresh token." }),
    }),
    answer: strict({ jwt: z.string().meta({ description: "The access token. It expires after four hours." }) }),
    async handle({ biz_id, token }, { context, request, reply }) {
      const { refreshTokens, accessTokens, rateLimits, now } = context;
      const found = await refreshTokens.principalOf(token, biz_id, now());
      if (found === undefined) {
        const message =
          "The token is not an active server token or refresh token of this biz_id. Check the token and the biz_id.";
        throw new ServiceError(401, "REFRESH_TOKEN_REFUSED", message);
      }
      const { principal, refusal } = found;
      // A partner's token must stay on its servers, so web pages of other origins cannot read the response.
      if (principal.kind === "partner") hideFromBrowsers(reply);
      request.actor = actorOf(principal);
      // A suspended partner's users still get access tokens. With these tokens, they can withdraw a pending key that
      // someone else registered for them.
      const isUserOfSuspended = principal.kind === "user" && refusal === "suspended";
      if (refusal !== undefined && !isUserOfSuspended) throw tokenRefused(refusal);
      await rateLimits.countCaller(principal, reply);
      return { jwt: accessTokens.issue(principal, now()) };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/users/createMany",
    callers: ["partner"],
    summary: "Create up to 500 shadow users, and refresh tokens for them",
    description:
      "Each user gets the same result as in a separate request, in the order of the list. For a user who already exists, it has the status 201 and an earlier `created`. Each user counts as one request toward the rate limit. If a user is malformed, the whole list is rejected. In each region, either all users are created or none. After the status 503, repeat the request with the same Idempotency-Key. The key applies to each user and context separately, so a repeated request returns the same users and tokens, even in another list.",
    idempotent: true,
    bodyLimit: MAX_LIST_BODY_BYTES,
    body: strict({
      users: z
        .array(strict({ ...eitherUserID, region, context: tokenContext.optional() }))
        .min(1)
        .max(MAX_LIST)
        .meta({
          description: "The users to create. A user with a `context` gets a refresh token for this device or purpose.",
        }),
    }),
    answer: strict({
      users: z
        .array(
          z.union([
            strict({ status: z.literal(201), ...userFields, token: userRefreshToken.optional() }),
            strict({
              status: z.int().min(400).max(499).meta({ description: "The HTTP status of the error." }),
              code: z.string().meta({ description: "A stable identifier of the error." }),
              detail: z.string().meta({ description: "The problem and its remedy." }),
            }),
          ]),
        )
        .max(MAX_LIST)
        .meta({
          description: "One result for each user, in the order of the request: either the user or an error.",
        }),
    }),
    async handle({ users: list }, { context, principal, author, repeatable, reply }) {
      await context.rateLimits.countList(principal, reply, list.length);
      const wanted = list.map(({ region, context, ...id }) => ({ region, context, userID: userIDOf(id) }));
      const options = { now: context.now(), author, repeatable };
      const results = await context.bulkCreation.create(principal.bizID, wanted, options);
      return { users: results.map((result) => toCreation(result, context)) };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/users/createRefreshToken",
    callers: ["partner", "partnerStaff"],
    specified: true,
    idempotent: true,
    summary: "Create a refresh token for a user",
    body: strict({ user_id_hex: userIDHex, context: tokenContext }),
    answer: strict({ token: userRefreshToken }),
    errors: [404, 409],
    async handle({ user_id_hex, context: purpose }, { context, principal, author, repeatable }) {
      const user = await requireUser(context, principal.bizID, userIDFromHex(user_id_hex));
      if (user.deactivated !== null) throw tokenRefused("deactivated");
      const options = { now: context.now(), author, repeatable };
      const { token } = await context.refreshTokens.createForUser(user, purpose, options);
      return { token };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/users/listRefreshTokens",
    callers: ["partner", "partnerStaff"],
    reads: true,
    summary: "List a user's refresh tokens in pages, in the order of creation, without their values",
    body: strict({ ...eitherUserID, ...tokenPage }),
    answer: page("tokens", userToken, tokenID),
    errors: [404, 409],
    async handle({ user_id, user_id_hex, ...options }, { context, principal }) {
      const user = await requireUser(context, principal.bizID, userIDOf({ user_id, user_id_hex }));
      const { tokens, next } = (await listUserTokens(context.databases, user, options)) ?? tokenUnknown();
      return { tokens: tokens.map((row) => answerFrom(userToken, row)), next };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/users/revokeRefreshToken",
    callers: ["partner", "partnerStaff"],
    duringSuspension: true,
    summary: "Revoke a user's refresh token and its access tokens",
    body: strict({ ...eitherUserID, token_id: tokenID }),
    answer: userToken,
    errors: [404, 409],
    async handle({ token_id, ...id }, { context, principal, author }) {
      const user = await requireUser(context, principal.bizID, userIDOf(id));
      const revoked = await revokeUserToken(context.databases, user, token_id, context.now(), author);
      return answerFrom(userToken, revoked ?? tokenUnknown());
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/serverTokens/list",
    callers: ["partner", "partnerStaff"],
    reads: true,
    summary: "List the partner's own server tokens in pages, in the order of creation, without their values",
    body: strict(tokenPage),
    answer: page("tokens", serverToken, tokenID),
    errors: [404],
    handle: (options, { context, principal: { bizID } }) => pageOfServerTokens(bizID, options, context),
  }),

  defineOperation({
    path: "/v1/authdBizSrv/serverTokens/revoke",
    callers: ["partner", "partnerStaff"],
    duringSuspension: true,
    summary: "Revoke one of the partner's own server tokens and its access tokens",
    body: strict({ token_id: tokenID }),
    answer: serverToken,
    errors: [404],
    async handle({ token_id }, { context, principal: { bizID }, author }) {
      const revoked = await revokeServerToken(context.databases, bizID, token_id, context.now(), author);
      return answerFrom(serverToken, revoked ?? tokenUnknown());
    },
  }),

  defineOperation({
    path: "/v1/dashboard/serverTokens/create",
    callers: ["partnerStaff"],
    summary: "Create a server token of the person's partner",
    body: strict({ name: name.optional() }),
    answer: createdServerToken,
    status: 201,
    handle: ({ name }, call) => createServerToken(call.principal.bizID, name, call),
  }),

  defineOperation({
    path: "/v1/admin/serverTokens/create",
    callers: ["operator"],
    idempotent: true,
    summary: "Create a server token of a partner",
    body: strict({ biz_id: bizID, name: name.optional() }),
    answer: createdServerToken,
    status: 201,
    errors: [404, 409],
    async handle({ biz_id, name }, call) {
      await requirePartner(call.context, biz_id);
      return createServerToken(biz_id, name, call);
    },
  }),

  defineOperation({
    path: "/v1/admin/serverTokens/list",
    callers: ["operator", "operatorStaff"],
    reads: true,
    summary: "List a partner's server tokens in pages, in the order of creation, without their values",
    body: strict({ biz_id: bizID, ...tokenPage }),
    answer: page("tokens", serverToken, tokenID),
    errors: [404],
    async handle({ biz_id, ...options }, { context }) {
      await requirePartner(context, biz_id);
      return pageOfServerTokens(biz_id, options, context);
    },
  }),

  defineOperation({
    path: "/v1/admin/serverTokens/revoke",
    callers: ["operator", "operatorStaff"],
    summary: "Revoke any server token and its access tokens",
    body: strict({ token_id: tokenID }),
    answer: revokedServerToken,
    errors: [404],
    async handle({ token_id }, { context, author }) {
      const found = await revokeServerToken(context.databases, undefined, token_id, context.now(), author);
      return answerFrom(revokedServerToken, found ?? tokenUnknown());
    },
  }),
];

function toCreation(result: CreatedUser | ServiceError, context: Pick<ApiContext, "stage">) {
  if (result instanceof ServiceError) return { status: result.status, code: result.code, detail: result.message };
  const { user, token } = result;
  return { status: 201 as const, ...toUser(user, context), ...(token !== undefined && { token }) };
}

async function createServerToken(
  bizID: string,
  name: string | undefined,
  { context, author, repeatable }: Pick<Call<Caller, TokenContext>, "context" | "author" | "repeatable">,
) {
  const options = { now: context.now(), author, repeatable };
  const created = await context.refreshTokens.createForServer(bizID, name ?? null, options);
  return answerFrom(createdServerToken, { ...created, name: name ?? null });
}

async function pageOfServerTokens(bizID: string, options: PageOptions, { databases }: TokenContext) {
  const { tokens, next } = (await listServerTokens(databases, bizID, options)) ?? tokenUnknown();
  return { tokens: tokens.map((row) => answerFrom(serverToken, row)), next };
}

function tokenUnknown(): never {
  const message = "There is no active token with this id. List the tokens to find the right id.";
  throw new ServiceError(404, "TOKEN_UNKNOWN", message);
}
