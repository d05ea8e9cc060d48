import { answerFrom } from "../api/answerFrom.ts";
import { z } from "zod";
import { type UserID, userIDFromHex } from "keyroot/internal/identity";
import type { PrincipalOf } from "../api/base/principals.ts";
import type { ApiContext } from "../api/context.ts";
import { operationsWith } from "../api/defineOperation.ts";
import {
  eitherUserID,
  limit,
  named,
  page,
  region,
  strict,
  timestamp,
  userID,
  userIDHex,
  userIDOf,
} from "../api/fields.ts";
import type { UserCreation } from "./createUser.ts";
import { userUnknown } from "./userErrors.ts";
import type { UserStore } from "./users.ts";
import type { User } from "./newUser.ts";

/** A shadow user (docs/specification.md, "Shadow user"). */
export const userFields = {
  user_id: userID,
  bucket: z
    .string()
    .meta({ description: "The name of the user's storage bucket: <prefix>-<stage>-<region>-<user_id>." }),
  region,
  stage: z.string().meta({ description: "The name of the deployment stage." }),
  salt: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .meta({ description: "A random value for this user, as 32 hex digits." }),
  created: timestamp,
};
const shadowUser = strict(userFields);
const createdUser = named("CreatedUser", "A new shadow user, or the one that an earlier call created.", {
  status: z.literal(201),
  ...userFields,
});
const activeUser = named(
  "ShadowUser",
  'A shadow user (docs/specification.md, "Shadow user") with the time of its deactivation.',
  {
    ...userFields,
    deactivated: timestamp
      .nullable()
      .meta({ description: "The time of the user's deactivation. Null while the user is active." }),
  },
);
/** The user fields that staff need. Salt and bucket are only for servers and apps. */
export const shownUser = strict({
  user_id: userID,
  region,
  created: timestamp,
  deactivated: timestamp.nullable(),
});
export interface UserContext extends ApiContext {
  users: UserStore;
  userCreation: UserCreation;
}

const defineOperation = operationsWith<UserContext>();

export const userOperations = [
  defineOperation({
    path: "/v1/authdBizSrv/users/create",
    callers: ["partner", "partnerStaff"],
    specified: true,
    summary: "Create a shadow user",
    description: "Repeating the request returns the same user.",
    body: strict({ user_id_hex: userIDHex, region }),
    answer: createdUser,
    status: 201,
    errors: [409],
    async handle({ user_id_hex, region }, { context, principal: { bizID }, author }) {
      const id = userIDFromHex(user_id_hex);
      const user = await context.userCreation.create(bizID, id, region, context.now(), author);
      return { status: 201 as const, ...toUser(user, context) };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/users/get",
    callers: ["partner"],
    summary: "Get a user",
    body: strict(eitherUserID),
    answer: activeUser,
    errors: [404, 409],
    async handle(id, { context, principal }) {
      return toActiveUser(await requireUser(context, principal.bizID, userIDOf(id)), context);
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/users/list",
    callers: ["partner"],
    summary: "List the partner's users in pages, ordered by id",
    body: strict({ limit, after: userID.optional() }),
    answer: page("users", activeUser, userID),
    async handle({ limit, after }, { context, principal: { bizID } }) {
      const { users, next } = await context.users.list(bizID, after, limit);
      return { users: users.map((user) => toActiveUser(user, context)), next };
    },
  }),

  defineOperation({
    path: "/v1/dashboard/users/get",
    callers: ["partnerStaff"],
    reads: true,
    summary: "Get a user for a person, without the salt and the bucket",
    body: strict(eitherUserID),
    answer: shownUser,
    errors: [404, 409],
    async handle(id, { context, principal }) {
      return answerFrom(shownUser, await requireUser(context, principal.bizID, userIDOf(id)));
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/users/deactivate",
    callers: ["partner", "partnerStaff"],
    summary: "Deactivate a user permanently",
    description:
      "The service then rejects all tokens of the user. The user's public key remains published and verifiable. Repeating the request has no effect.",
    body: strict(eitherUserID),
    answer: named("DeactivatedUser", "A user whose tokens are rejected.", { user_id: userID, deactivated: timestamp }),
    errors: [404, 409],
    async handle(id, { context, principal, author }) {
      const user = await requireUser(context, principal.bizID, userIDOf(id));
      const deactivated = await context.users.deactivate(user, context.now(), author);
      return { user_id: user.userID, deactivated };
    },
  }),
];

/** Returns a partner's user. @throws ServiceError USER_UNKNOWN, USER_ERASED */
export async function requireUser({ users }: Pick<UserContext, "users">, bizID: string, userID: UserID): Promise<User> {
  const user = await users.get(bizID, userID);
  if (user === undefined) throw userUnknown();
  return user;
}

/** Returns the calling user from the region in the access token. @throws ServiceError USER_UNKNOWN, USER_ERASED */
export async function callingUser({ users }: { users: UserStore }, { region, bizID, userID }: PrincipalOf<"user">) {
  const user = await users.getIn(region, userID);
  if (user?.bizID !== bizID) throw userUnknown();
  return user;
}

export function toUser(user: User, { stage }: Pick<ApiContext, "stage">) {
  return answerFrom(shadowUser, { ...user, stage });
}

function toActiveUser(user: User, { stage }: Pick<ApiContext, "stage">) {
  return answerFrom(activeUser, { ...user, stage });
}
