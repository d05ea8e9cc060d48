import { ServiceError } from "keyroot/errors";
import { userIDFromHex } from "keyroot/identity";
import { tokenRefused } from "../http/authenticator.ts";
import type { ServiceContext } from "../http/context.ts";
import type { App } from "../http/defineOperation.ts";
import { authorOf } from "../http/requestLog.ts";
import { checkObjection, toKeyResponse, toUserTokenResponse } from "../routes/responses.ts";
import type { User } from "../store/users.ts";
import { defineCall, requireActivePartner } from "./defineCall.ts";
import { calls } from "./schemas.ts";

/** The partner's users, their keys and their refresh tokens. */
export function userCalls(app: App, context: ServiceContext): void {
  const { users, refreshTokens, publicKeys, objections, now } = context;

  /** @throws ServiceError USER_UNKNOWN */
  const userOf = async (bizID: string, userIDHex: string): Promise<User> => {
    const user = await users.get(bizID, userIDFromHex(userIDHex));
    if (user !== undefined) return user;
    throw new ServiceError(404, "USER_UNKNOWN", "Your company has no user with this id.");
  };

  defineCall(app, context, {
    path: "users/list",
    access: "reader",
    schema: calls.listUsers,
    async handle({ limit, after }, { person: { bizID } }) {
      const page = await users.list(bizID, after, limit);
      return { users: page.users.map(toUser), next: page.next };
    },
  });

  defineCall(app, context, {
    path: "users/get",
    access: "reader",
    schema: calls.getUser,
    async handle({ user_id_hex }, { person: { bizID } }) {
      const user = await userOf(bizID, user_id_hex);
      const [key, otherKeys] = await Promise.all([
        publicKeys.get(user.region, user.userID),
        objections.listUndecided(user),
      ]);
      if (key === undefined) return { user: toUser(user), key: null };
      const { state, possession, keyID, publishableAt = null, root = null, transaction = null } = toKeyResponse(key);
      const fields = { state, possession, keyID, publishable_at: publishableAt, root, transaction };
      const other_keys = otherKeys.map(({ keyID, offered, withdrawn }) => ({ keyID, offered, withdrawn }));
      return { user: toUser(user), key: { ...fields, other_keys } };
    },
  });

  defineCall(app, context, {
    path: "users/discardKey",
    access: "administrator",
    verified: true,
    schema: calls.discardKey,
    async handle({ user_id_hex, keyID }, { person: { bizID } }, request) {
      const user = await userOf(bizID, user_id_hex);
      checkObjection(await objections.discard(user, keyID, now(), authorOf(request)));
      return {};
    },
  });

  defineCall(app, context, {
    path: "users/approveKey",
    access: "administrator",
    verified: true,
    schema: calls.approveKey,
    async handle({ user_id_hex, keyID }, { person: { bizID } }, request) {
      const user = await userOf(bizID, user_id_hex);
      checkObjection(await objections.approve(user, keyID, now(), authorOf(request)));
      return {};
    },
  });

  defineCall(app, context, {
    path: "users/create",
    access: "administrator",
    schema: calls.createUser,
    async handle({ user_id_hex, region }, { person: { bizID } }, request) {
      await requireActivePartner(context, bizID);
      const user = await users.create(bizID, userIDFromHex(user_id_hex), region, now(), authorOf(request));
      if (user === undefined)
        throw new ServiceError(409, "USER_ID_TAKEN", "This user id is already in use: choose another one.");
      return toUser(user);
    },
  });

  defineCall(app, context, {
    path: "users/listTokens",
    access: "reader",
    schema: calls.listUserTokens,
    async handle({ user_id_hex, limit, after }, { person: { bizID } }) {
      const page = await refreshTokens.listOfUser(await userOf(bizID, user_id_hex), { limit, after });
      if (page === undefined) tokenUnknown();
      return { tokens: page.tokens.map(toUserTokenResponse), next: page.next };
    },
  });

  defineCall(app, context, {
    path: "users/createToken",
    access: "administrator",
    verified: true,
    schema: calls.createUserToken,
    async handle({ user_id_hex, context: purpose }, { person: { bizID } }, request) {
      await requireActivePartner(context, bizID);
      const user = await userOf(bizID, user_id_hex);
      if (user.deactivated !== null) throw tokenRefused("deactivated");
      // Without an Idempotency-Key, so that no copy of the token is kept for repeated requests.
      const options = { now: now(), author: authorOf(request), idempotencyKey: undefined };
      const { tokenID, token, created } = await refreshTokens.createForUser(user, purpose, options);
      return { token_id: tokenID, token, context: purpose, created };
    },
  });

  defineCall(app, context, {
    path: "users/revokeToken",
    access: "administrator",
    schema: calls.revokeUserToken,
    async handle({ user_id_hex, token_id }, { person: { bizID } }, request) {
      const user = await userOf(bizID, user_id_hex);
      const revoked = await refreshTokens.revokeOfUser(user, token_id, now(), authorOf(request));
      return toUserTokenResponse(revoked ?? tokenUnknown());
    },
  });
}

function toUser({ userID, region, created, deactivated }: User) {
  return { user_id: userID, region, created, deactivated };
}

/** @throws ServiceError TOKEN_UNKNOWN */
function tokenUnknown(): never {
  throw new ServiceError(404, "TOKEN_UNKNOWN", "The user has no token with this id.");
}
