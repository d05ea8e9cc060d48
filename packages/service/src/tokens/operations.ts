import { answerFrom } from "../api/answerFrom.ts";
import { z } from "zod";
import { userIDFromHex } from "keyroot/internal/identity";
import { ServiceError } from "../api/base/errors.ts";
import { tokenRefused } from "./authenticator.ts";
import type { ApiContext } from "../api/context.ts";
import { type Call, type Caller, operationsWith } from "../api/defineOperation.ts";
import {
  bizID,
  eitherUserID,
  limit,
  name,
  named,
  page,
  strict,
  timestamp,
  tokenContext,
  tokenID,
  userIDHex,
  userIDOf,
} from "../api/fields.ts";
import { requirePartner } from "../partners/operations.ts";
import { requireUser } from "../users/operations.ts";
import { createMany, userRefreshToken } from "./createManyOperation.ts";
import type { PartnerStore } from "../partners/partners.ts";
import type { UserStore } from "../users/users.ts";
import type { RefreshTokenStore } from "./refreshTokens.ts";
import { exchangeToken } from "./exchangeToken.ts";
import { listServerTokens, listUserTokens, type PageOptions } from "./listTokens.ts";
import { revokeServerToken, revokeUserToken } from "./revokeToken.ts";

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

/** What the operations on tokens need. */
export interface TokenContext extends ApiContext {
  users: UserStore;
  partners: PartnerStore;
  refreshTokens: RefreshTokenStore;
}

const defineOperation = operationsWith<TokenContext>();

export const tokenOperations = [
  exchangeToken,
  createMany,
  defineOperation({
    path: "/v1/authdBizSrv/users/createRefreshToken",
    callers: ["partner", "partnerStaff"],
    role: "administrator",
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
    errors: [404],
    async handle({ user_id, user_id_hex, ...options }, { context, principal }) {
      const user = await requireUser(context, principal.bizID, userIDOf({ user_id, user_id_hex }));
      const { tokens, next } = (await listUserTokens(context.databases, user, options)) ?? tokenUnknown();
      return { tokens: tokens.map((row) => answerFrom(userToken, row)), next };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/users/revokeRefreshToken",
    callers: ["partner", "partnerStaff"],
    role: "administrator",
    duringSuspension: true,
    summary: "Revoke a user's refresh token and its access tokens",
    body: strict({ ...eitherUserID, token_id: tokenID }),
    answer: userToken,
    errors: [404],
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
    role: "administrator",
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
    role: "administrator",
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
    role: "administrator",
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

async function createServerToken(
  bizID: string,
  name: string | undefined,
  { context, author, repeatable }: Pick<Call<Caller, TokenContext>, "context" | "author" | "repeatable">,
) {
  const options = { now: context.now(), author, repeatable };
  const created = await context.refreshTokens.createForServer(bizID, name ?? null, options);
  return answerFrom(createdServerToken, { ...created, name: name ?? null });
}

/** @throws ServiceError TOKEN_UNKNOWN */
async function pageOfServerTokens(bizID: string, options: PageOptions, { databases }: TokenContext) {
  const { tokens, next } = (await listServerTokens(databases, bizID, options)) ?? tokenUnknown();
  return { tokens: tokens.map((row) => answerFrom(serverToken, row)), next };
}

/** @throws ServiceError TOKEN_UNKNOWN */
function tokenUnknown(): never {
  throw new ServiceError(
    404,
    "TOKEN_UNKNOWN",
    "There is no active token with this id. List the tokens to find the right id.",
  );
}
