import { about, both, list, object, optional, text, count, userToken } from "../shared/answers.ts";
import { createdUser } from "../shared/answerChecks.ts";
import type { AnswerOf, CreatedUser } from "../shared/operations.ts";
import { isObject } from "keyroot/internal/input";
import type { ServiceError } from "../errors.ts";
import type { Region, UserID } from "keyroot/internal/formats";
import { toServiceError } from "../shared/problem.ts";

/** A user to create. If `context` is set, a refresh token for this device or purpose is created, too. */
export interface UserToCreate {
  /** The user id: 32 characters of zBase32, or 40 hex digits. */
  userID: string;
  region: Region;
  /** The device or purpose of the refresh token, at most 200 characters. By default, the service creates no token. */
  context?: string | undefined;
}

/** The result for one user: the created user and the requested token, or the service's error. */
export type CreateUsersResult = (CreatedUser & { token?: string | undefined }) | { error: ServiceError };

const createdWithToken = both(createdUser, object<{ token?: string | undefined }>({ token: optional(userToken) }));
const refusedUser = object<{ status: number; code: string; detail: string }>({
  ...{ status: count, code: text(), detail: text() },
});
const isRefused = (item: unknown) => isObject(item) && typeof item["status"] === "number" && item["status"] >= 400;
export const createdUsers = (max: number) =>
  object<AnswerOf<"/v1/authdBizSrv/users/createMany">>({
    users: list((where, item) => (isRefused(item) ? refusedUser : createdWithToken)(where, item), max),
  });
export const createdToken = object<{ token: string }>({ token: userToken });

/**
 * Returns the results for a request's users, in the order of the request.
 * @throws TransportError SERVICE_ANSWER_INVALID
 */
export function toResults(
  { users }: AnswerOf<"/v1/authdBizSrv/users/createMany">,
  wanted: readonly { id: UserID; region: Region; context: string | undefined }[],
): CreateUsersResult[] {
  return wanted.map(({ id, region, context }, i) => {
    const { [i]: result } = users;
    if (result !== undefined && "code" in result)
      return { error: toServiceError(`The service rejects the user ${id}`, result.status, { ...result }) };
    const where = `answer.users[${i}]`;
    const created = about({ user_id: id, region }, createdWithToken)(where, result);
    return context === undefined ? created : { ...created, ...createdToken(where, created) };
  });
}
