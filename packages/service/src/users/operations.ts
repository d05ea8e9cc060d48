import { z } from "zod";
import { ServiceError } from "../errors.ts";
import { type UserID, userIDFromHex } from "keyroot/internal/identity";
import type { ServiceContext } from "../app/context.ts";
import { defineOperation } from "../app/defineOperation.ts";
import {
  eitherUserID,
  limit,
  page,
  region,
  strict,
  timestamp,
  tokenContext,
  userID,
  userIDHex,
  userIDOf,
} from "../app/fields.ts";
import type { CreatedUser } from "./bulkCreation.ts";
import { LISTED_STATES, type UserWithKey } from "../keys/usersWithKeys.ts";
import type { User } from "./newUser.ts";

/** Maximum number of users in one creation request. */
const MAX_LIST = 500;
/**
 * Maximum size of a creation request's body in bytes. A user takes at most 1,310 bytes, even if every character of the
 * user's context is escaped (RFC 8259, section 7).
 */
const MAX_LIST_BODY_BYTES = MAX_LIST * 1536;

const listedState = z.enum(LISTED_STATES).meta({
  description:
    "The state of the user's key. `waiting`: in the hold period. `undecided`: until the partner decides. `ready`: for the next batch. The other states are `unregistered`, `submitted` and `published`.",
});

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
const activeUser = strict({
  ...userFields,
  deactivated: timestamp
    .nullable()
    .meta({ description: "The time of the user's deactivation. Null while the user is active." }),
});
/** The user fields that staff need. Salt and bucket are only for servers and apps. */
const shownUser = { user_id: userID, region, created: timestamp, deactivated: timestamp.nullable() };
export const userRefreshToken = z
  .string()
  .meta({ description: "The value of the user's refresh token. The service returns it only once." });

export const userOperations = [
  defineOperation({
    path: "/v1/authdBizSrv/users/create",
    callers: ["partner", "partnerStaff"],
    role: "administrator",
    specified: true,
    summary: "Create a shadow user",
    description: "Repeating the request returns the same user.",
    body: strict({ user_id_hex: userIDHex, region }),
    answer: strict({ status: z.literal(201), ...userFields }),
    status: 201,
    errors: [409],
    async handle({ user_id_hex, region }, { context, principal: { bizID }, author }) {
      const id = userIDFromHex(user_id_hex);
      const user = await context.userCreation.create(bizID, id, region, context.now(), author);
      return { status: 201 as const, ...toUser(user, context) };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/users/createMany",
    callers: ["partner"],
    summary: "Create up to 500 shadow users, and refresh tokens for them",
    description:
      "The results are in the order of the list. Each user gets the same result as with a separate request, and counts as one request. With an Idempotency-Key, a repeated request returns the same users and tokens.",
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
          description: "One result for each user, in the order of the request. A result is the user or an error.",
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
    path: "/v1/authdBizSrv/users/get",
    callers: ["partner"],
    summary: "Get a user",
    body: strict(eitherUserID),
    answer: activeUser,
    errors: [404],
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
    summary: "Get a user for a person, without the salt and the bucket",
    body: strict(eitherUserID),
    answer: strict(shownUser),
    errors: [404],
    async handle(id, { context, principal }) {
      const { userID, region, created, deactivated } = await requireUser(context, principal.bizID, userIDOf(id));
      return { user_id: userID, region, created, deactivated };
    },
  }),

  defineOperation({
    path: "/v1/dashboard/users/list",
    callers: ["partnerStaff"],
    summary: "List the partner's users with the states of their keys in pages, ordered by id",
    description: "With a filter, a page may have fewer users than `limit`, although `next` is not null.",
    body: strict({
      state: listedState.optional().meta({ description: "List only users whose key has this state." }),
      region: region.optional(),
      limit,
      after: userID.optional(),
    }),
    answer: page(
      "users",
      strict({
        ...shownUser,
        state: listedState,
        hold_ends_at: timestamp.nullable().meta({ description: "The end of the hold period of a waiting key." }),
        last_used: timestamp.nullable().meta({ description: "The hour in which a token of the user was last used." }),
      }),
      userID,
    ),
    async handle(filter, { context, principal: { bizID } }) {
      const { users, next } = await context.usersWithKeys.list(bizID, filter, context.now());
      return { users: users.map(toListedUser), next };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/users/deactivate",
    callers: ["partner", "partnerStaff"],
    role: "administrator",
    verified: true,
    summary: "Deactivate a user permanently",
    description:
      "The service then rejects all tokens of the user. The user's public key remains published and verifiable. Repeating the request has no effect.",
    body: strict(eitherUserID),
    answer: strict({ user_id: userID, deactivated: timestamp }),
    errors: [404],
    async handle(id, { context, principal, author }) {
      const user = await requireUser(context, principal.bizID, userIDOf(id));
      const deactivated = await context.users.deactivate(user, context.now(), author);
      return { user_id: user.userID, deactivated };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/users/erase",
    callers: ["partner", "partnerStaff"],
    role: "administrator",
    verified: true,
    summary: "Deactivate a user and delete its data permanently",
    description:
      "The id cannot be used again. If the public key is on the chain or is being published, it cannot be deleted. Its file and the chain then contain the user id and the key.",
    body: strict(eitherUserID),
    answer: strict({
      user_id: userID,
      erased: timestamp,
      key: z.enum(["deleted", "remains"]).meta({
        description: "`remains` if the public key is on the chain or is being published. Otherwise `deleted`.",
      }),
    }),
    errors: [404],
    async handle(id, { context, principal: { bizID }, author }) {
      const erased = await context.users.erase(bizID, userIDOf(id), context.now(), author);
      if (erased === undefined) throw userUnknown();
      const key = erased.keyRemains ? ("remains" as const) : ("deleted" as const);
      return { user_id: erased.userID, erased: erased.erased, key };
    },
  }),
];

/** Returns a partner's user. @throws ServiceError USER_UNKNOWN */
export async function requireUser({ users }: ServiceContext, bizID: string, userID: UserID): Promise<User> {
  const user = await users.get(bizID, userID);
  if (user === undefined) throw userUnknown();
  return user;
}

/** The error for a user id that does not belong to the caller's partner. */
export function userUnknown(): ServiceError {
  return new ServiceError(404, "USER_UNKNOWN", "There is no user with this id. Check the id, or create the user.");
}

export function toUser({ userID, bucket, region, salt, created }: User, { stage }: Pick<ServiceContext, "stage">) {
  return { user_id: userID, bucket, region, stage, salt, created };
}

function toActiveUser(user: User, context: ServiceContext) {
  return { ...toUser(user, context), deactivated: user.deactivated };
}

function toListedUser({ userID, state, holdEndsAt, lastUsed, ...user }: UserWithKey) {
  return { user_id: userID, state, hold_ends_at: holdEndsAt, last_used: lastUsed, ...user };
}

function toCreation(result: CreatedUser | ServiceError, context: ServiceContext) {
  if (result instanceof ServiceError) return { status: result.status, code: result.code, detail: result.message };
  const { user, token } = result;
  return { status: 201 as const, ...toUser(user, context), ...(token !== undefined && { token }) };
}
