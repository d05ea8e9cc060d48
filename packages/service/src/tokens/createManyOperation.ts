import { z } from "zod";
import { ServiceError } from "../api/base/errors.ts";
import type { ApiContext } from "../api/context.ts";
import { operationsWith } from "../api/defineOperation.ts";
import { eitherUserID, region, strict, tokenContext, userIDOf } from "../api/fields.ts";
import { toUser, userFields } from "../users/operations.ts";
import type { BulkCreation, CreatedUser } from "./bulkCreation.ts";

/** Maximum number of users in one creation request. */
const MAX_LIST = 500;
/**
 * Maximum size of a creation request's body in bytes. A user takes at most 1,310 bytes, even if every character of the
 * user's context is escaped (RFC 8259, section 7).
 */
const MAX_LIST_BODY_BYTES = MAX_LIST * 1536;

export const userRefreshToken = z
  .string()
  .meta({ description: "The value of the user's refresh token. The service returns it only once." });

/** What the creation of lists of users needs. */
export interface BulkContext extends ApiContext {
  bulkCreation: BulkCreation;
}

/** Creates users and their refresh tokens together. */
export const createMany = operationsWith<BulkContext>()({
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
});

function toCreation(result: CreatedUser | ServiceError, context: Pick<ApiContext, "stage">) {
  if (result instanceof ServiceError) return { status: result.status, code: result.code, detail: result.message };
  const { user, token } = result;
  return { status: 201 as const, ...toUser(user, context), ...(token !== undefined && { token }) };
}
