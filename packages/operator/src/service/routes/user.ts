import { ServiceError } from "keyroot/errors";
import { checkKeyRecord, checkNewPublicKey, toKeyRecord, type UserID } from "keyroot/identity";
import type { ServiceContext } from "../http/context.ts";
import { type App, defineOperation } from "../http/defineOperation.ts";
import { requirePrincipal } from "../http/requirePrincipal.ts";
import { schemas } from "../http/schemas.ts";
import type { RegisteredKey } from "../store/publicKeys.ts";
import type { User } from "../store/users.ts";
import { toKeyResponse, toUserResponse } from "./responses.ts";

/** Operations under /v1/authdUser/, which require a user's access token. */
export function userRoutes(app: App, context: ServiceContext): void {
  const { users, publicKeys, stage, now } = context;
  const userOf = requirePrincipal(app, context, "user");

  /** @throws ServiceError USER_UNKNOWN */
  const getUser = async (bizID: string, userID: UserID): Promise<User> => {
    const user = await users.get(bizID, userID);
    if (user !== undefined) return user;
    throw new ServiceError(404, "USER_UNKNOWN", "There is no user with this id.");
  };
  /** @throws ServiceError PUBLIC_KEY_UNKNOWN */
  const getKey = async ({ region, userID }: User): Promise<RegisteredKey> => {
    const key = await publicKeys.get(region, userID);
    if (key !== undefined) return key;
    throw new ServiceError(404, "PUBLIC_KEY_UNKNOWN", "The user has not registered a public key.");
  };

  defineOperation(app, {
    path: "/v1/authdUser/publicKey/register",
    summary: "Register the user's public key permanently",
    description:
      "Repeating the request has no effect. A different key is rejected. The key's length, curve, subgroup and keyID are checked.",
    tag: "user",
    errors: [404, 409],
    schema: schemas.registerKey,
    async handle({ pubKey, keyID }, request) {
      const { bizID, userID } = userOf(request);
      const user = await getUser(bizID, userID);
      const record = toKeyRecord({ userID, pubKey, keyID });
      checkNewPublicKey(checkKeyRecord(record));
      if (!(await publicKeys.register(user.region, record, now()))) {
        const message = "The user has already registered a different public key, which cannot be changed.";
        throw new ServiceError(409, "PUBLIC_KEY_REGISTERED", message);
      }
      request.change = { action: "key.registered", partner: bizID, user: userID };
      return { ...toUserResponse(user, stage), ...toKeyResponse(await getKey(user)) };
    },
  });

  defineOperation(app, {
    path: "/v1/authdUser/record/get",
    summary: "Get the user's own record, with the state of its public key",
    tag: "user",
    errors: [404],
    schema: schemas.getRecord,
    async handle(_body, request) {
      const { bizID, userID } = userOf(request);
      const user = await getUser(bizID, userID);
      const key = await publicKeys.get(user.region, userID);
      const keyFields = key === undefined ? { state: "unregistered" as const } : toKeyResponse(key);
      return { ...toUserResponse(user, stage), ...keyFields };
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
      const user = await getUser(userOf(request).bizID, userID);
      return { user_id: userID, ...toKeyResponse(await getKey(user)) };
    },
  });
}
