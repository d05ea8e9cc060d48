import type { FastifyRequest } from "fastify";
import { ServiceError } from "keyroot/errors";
import { checkKeyRecord, toKeyRecord } from "keyroot/identity";
import { checkNewPublicKey } from "keyroot/identity";
import { type App, operation } from "../operation.ts";
import { schemas } from "../schemas.ts";
import type { Service } from "../service.ts";
import type { User } from "../store/users.ts";
import type { Bearer } from "../tokens/accessToken.ts";
import { keyAnswer, userAnswer } from "./answers.ts";

/** Everything under /v1/authdUser/: for users' access tokens only. */
export function userRoutes(app: App, service: Service): void {
  const { users, publicKeys, authenticator, rateLimit, stage, now } = service;
  const bearers = new WeakMap<FastifyRequest, Extract<Bearer, { kind: "user" }>>();
  const selfOf = async (request: FastifyRequest): Promise<User> => {
    const bearer = bearers.get(request);
    const user = bearer && (await users.get(bearer.bizID, bearer.userID));
    if (user !== undefined) return user;
    throw new ServiceError(404, "USER_UNKNOWN", "There is no such user.");
  };

  app.addHook("onRequest", async (request) => {
    const bearer = await authenticator.bearer(request, "user", now());
    await rateLimit(`user ${bearer.userID}`);
    bearers.set(request, bearer);
  });

  operation(app, {
    path: "/v1/authdUser/publicKey/register",
    summary: "Register the user's public key, once and for ever",
    description:
      "The same key again changes nothing; another one is refused. Length, curve, subgroup and keyID are checked.",
    tag: "user",
    refusals: [404, 409],
    schema: schemas.registerKey,
    async handle({ pubKey, keyID }, request) {
      const user = await selfOf(request);
      const record = toKeyRecord({ userID: user.userID, pubKey, keyID });
      checkNewPublicKey(checkKeyRecord(record));
      if (!(await publicKeys.register(user.region, record, now()))) {
        const message = "Another public key is registered for this user, and stays.";
        throw new ServiceError(409, "PUBLIC_KEY_REGISTERED", message);
      }
      return { ...userAnswer(user, stage), ...keyAnswer(await keyOf(user)) };
    },
  });

  operation(app, {
    path: "/v1/authdUser/record/get",
    summary: "Read the user's own record, and how far its public key has come",
    tag: "user",
    refusals: [404],
    schema: schemas.getRecord,
    async handle(_body, request) {
      const user = await selfOf(request);
      const key = await publicKeys.get(user.region, user.userID);
      return {
        ...userAnswer(user, stage),
        ...(key === undefined ? { state: "unregistered" as const } : keyAnswer(key)),
      };
    },
  });

  operation(app, {
    path: "/v1/authdUser/publicKey/get",
    summary: "Read the public key of a user of the same partner",
    description: "Never use a key that this service hands out before you have verified it against the chain.",
    tag: "user",
    refusals: [404],
    schema: schemas.getPublicKey,
    async handle({ user_id: userID }, request) {
      const bizID = bearers.get(request)?.bizID ?? "";
      const user = await users.get(bizID, userID);
      if (user === undefined) throw new ServiceError(404, "USER_UNKNOWN", "There is no such user.");
      return { user_id: userID, ...keyAnswer(await keyOf(user)) };
    },
  });

  async function keyOf({ region, userID }: User) {
    const key = await publicKeys.get(region, userID);
    if (key !== undefined) return key;
    throw new ServiceError(404, "PUBLIC_KEY_UNKNOWN", "The user has registered no public key yet.");
  }
}
