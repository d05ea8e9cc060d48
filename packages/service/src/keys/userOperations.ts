import { answerFrom } from "../api/answerFrom.ts";
import type { ApiContext } from "../api/context.ts";
import { operationsWith } from "../api/defineOperation.ts";
import { count, eitherUserID, limit, named, page, region, strict, timestamp, userID, userIDOf } from "../api/fields.ts";
import { countUsers } from "../partners/partners.ts";
import { shownUser } from "../users/operations.ts";
import { userUnknown } from "../users/userErrors.ts";
import { z } from "zod";
import { eraseUser } from "./eraseUser.ts";
import { LISTED_STATES, type UsersWithKeys } from "./usersWithKeys.ts";

const listedState = z.enum(LISTED_STATES).meta({
  description:
    "The state of the user's key. `waiting`: it is in its hold period. `undecided`: the partner must decide. `ready`: it will be in the next batch. `blocked`: it is never published, because the user is deactivated. The other states are `unregistered`, `submitted` and `published`.",
});

const listedUser = strict({
  ...shownUser.shape,
  state: listedState,
  hold_ends_at: timestamp.nullable().meta({ description: "The end of the hold period of a waiting key." }),
  last_used: timestamp.nullable().meta({ description: "The hour in which a token of the user was last used." }),
});

export interface UsersWithKeysContext extends ApiContext {
  usersWithKeys: UsersWithKeys;
}

const defineOperation = operationsWith<UsersWithKeysContext>();

/** The operations on users that also concern their keys. */
export const usersWithKeysOperations = [
  defineOperation({
    path: "/v1/dashboard/users/list",
    callers: ["partnerStaff"],
    reads: true,
    summary: "List the partner's users with the states of their keys in pages, newest first",
    description:
      "With `state` or `prefix`, the users are in the order of their ids, and a page may have fewer users than `limit` even if `next` is not null.",
    body: strict({
      state: listedState.optional().meta({ description: "List only users whose key has this state." }),
      region: region.optional(),
      prefix: z
        .string()
        .regex(/^[ybndrfg8ejkmcpqxot1uwisza345h769]{1,32}$/)
        .optional()
        .meta({ description: "List only users whose ids begin with these characters." }),
      limit,
      after: userID.optional(),
    }),
    answer: page("users", listedUser, userID).extend({ total: count("users of the partner, without any filter") }),
    async handle(filter, { context, principal: { bizID } }) {
      const [{ users, next }, total] = await Promise.all([
        context.usersWithKeys.list(bizID, filter, context.now()),
        countUsers(context.databases.home, bizID),
      ]);
      return { users: users.map((row) => answerFrom(listedUser, row)), next, total };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/users/erase",
    callers: ["partner", "partnerStaff"],
    summary: "Deactivate a user and delete its data permanently",
    description:
      "The id cannot be used again. If the public key is on the chain or is being published, it cannot be deleted, so its file and the chain still contain the user id and the key.",
    body: strict(eitherUserID),
    answer: named("ErasedUser", "A user whose data was deleted.", {
      user_id: userID,
      erased: timestamp,
      key: z.enum(["deleted", "remains"]).meta({
        description: "`remains` if the public key is on the chain or is being published, otherwise `deleted`.",
      }),
    }),
    errors: [404],
    async handle(id, { context, principal: { bizID }, author }) {
      const erased = await eraseUser(context.databases, bizID, userIDOf(id), context.now(), author);
      if (erased === undefined) throw userUnknown();
      const key = erased.keyRemains ? ("remains" as const) : ("deleted" as const);
      return { user_id: erased.userID, erased: erased.erased, key };
    },
  }),
];
