import type { FastifyRequest } from "fastify";
import { ServiceError } from "keyroot/errors";
import { serviceNameOf, toKeyRecord } from "keyroot/identity";
import type { ServiceContext } from "../http/context.ts";
import { type App, defineOperation } from "../http/defineOperation.ts";
import { authorOf } from "../http/requestLog.ts";
import { requirePrincipal } from "../http/requirePrincipal.ts";
import { schemas } from "../http/schemas.ts";
import type { RegisteredKey } from "../store/publicKeys.ts";
import type { User } from "../store/users.ts";
import { checkObjection, toChallengeAnswer, toChallengeResponse, toKeyResponse, toUserResponse } from "./responses.ts";

/** Operations under /v1/authdUser/, which require a user's access token. */
export function userRoutes(app: App, context: ServiceContext): void {
  const { users, publicKeys, registration, objections, stage, now } = context;
  const userOf = requirePrincipal(app, context, "user");

  /** The user who sent a request: the access token names its region. @throws ServiceError USER_UNKNOWN */
  const callerOf = async (request: FastifyRequest): Promise<User> => {
    const { region, bizID, userID } = userOf(request);
    const user = await users.getIn(region, userID);
    return user?.bizID === bizID ? user : userUnknown();
  };
  /** @throws ServiceError PUBLIC_KEY_UNKNOWN */
  const getKey = async ({ region, userID }: User): Promise<RegisteredKey> => {
    const key = await publicKeys.get(region, userID);
    if (key !== undefined) return key;
    throw new ServiceError(404, "PUBLIC_KEY_UNKNOWN", "The user has not registered a public key.");
  };

  defineOperation(app, {
    path: "/v1/authdUser/publicKey/challenge",
    summary: "Request a challenge for a public key that the user wants to register",
    description:
      "The response proves that the user holds the private key. A challenge can be answered once, within 5 minutes. The key's length, curve, subgroup and keyID are checked.",
    tag: "user",
    errors: [404, 409],
    schema: schemas.challengeKey,
    async handle({ pubKey, keyID }, request) {
      const { userID } = userOf(request);
      registration.requireAttempt(userID);
      const user = await callerOf(request);
      const service = serviceNameOf(context.baseUrl ?? app.listeningOrigin);
      const record = toKeyRecord({ userID, pubKey, keyID });
      const made = await registration.challenge(user, record, service, authorOf(request));
      return toChallengeResponse(userID, made);
    },
  });

  defineOperation(app, {
    path: "/v1/authdUser/publicKey/register",
    summary: "Register the user's public key permanently",
    description:
      "Requires the response to a challenge, unless the operator allows keys without proof of possession. Repeating the request has no effect. A different key is rejected.",
    tag: "user",
    errors: [404, 409],
    schema: schemas.registerKey,
    async handle({ pubKey, keyID, challenge, response }, request) {
      const user = await callerOf(request);
      const { userID } = user;
      const registered = await registration.register(
        user,
        toKeyRecord({ userID, pubKey, keyID }),
        toChallengeAnswer(challenge, response),
        authorOf(request),
      );
      const otherKeys = await objections.listUndecided(user);
      return { ...toUserResponse(user, stage), ...toKeyResponse(registered), otherKeys };
    },
  });

  defineOperation(app, {
    path: "/v1/authdUser/publicKey/withdraw",
    summary: "Withdraw the user's public key while it is pending",
    description: "The user then has no key, and can register another one. Repeating the request has no effect.",
    tag: "user",
    errors: [404, 409],
    schema: schemas.withdrawKey,
    async handle({ keyID }, request) {
      const user = await callerOf(request);
      const { userID } = user;
      checkObjection(await objections.withdraw(user, keyID, now(), authorOf(request)));
      return { user_id: userID, keyID, state: "unregistered" as const };
    },
  });

  defineOperation(app, {
    path: "/v1/authdUser/record/get",
    summary: "Get the user's own record, with the state of its public key",
    tag: "user",
    errors: [404],
    schema: schemas.getRecord,
    async handle(_body, request) {
      const user = await callerOf(request);
      const { userID } = user;
      const [key, otherKeys] = await Promise.all([publicKeys.get(user.region, userID), objections.listUndecided(user)]);
      const keyFields = key === undefined ? { state: "unregistered" as const } : toKeyResponse(key);
      return { ...toUserResponse(user, stage), ...keyFields, otherKeys };
    },
  });

  defineOperation(app, {
    path: "/v1/authdUser/publicKey/get",
    summary: "Get the public key of another user of the same partner",
    description: "Verify the key against the chain before you use it.",
    tag: "user",
    errors: [404],
    schema: schemas.getPublicKey,
    async handle({ user_id: userID }, request) {
      const user = (await users.get(userOf(request).bizID, userID)) ?? userUnknown();
      return { user_id: userID, ...toKeyResponse(await getKey(user)) };
    },
  });
}

/** @throws ServiceError USER_UNKNOWN */
function userUnknown(): never {
  throw new ServiceError(404, "USER_UNKNOWN", "There is no user with this id.");
}
