import type { PrincipalOf } from "../api/base/principals.ts";
import type { User } from "./newUser.ts";
import { userUnknown } from "./userErrors.ts";
import type { UserStore } from "./users.ts";

/** Returns the calling user from the region in the access token. @throws ServiceError USER_UNKNOWN */
export async function callingUser(
  { users }: { users: UserStore },
  { region, bizID, userID }: PrincipalOf<"user">,
): Promise<User> {
  const user = await users.getIn(region, userID);
  if (user?.bizID !== bizID) throw userUnknown();
  return user;
}
