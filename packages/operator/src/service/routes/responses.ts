import type { RegisteredKey } from "../store/publicKeys.ts";
import type { ServerTokenInfo, UserTokenInfo } from "../store/refreshTokens.ts";
import type { Invitation, Person } from "../store/staff.ts";
import type { User } from "../store/users.ts";

/** A user in the API's field names (specification, "Shadow user"). */
export function toUserResponse({ userID, bucket, region, salt, created }: User, stage: string) {
  return { user_id: userID, bucket, region, stage, salt, created };
}

/** A registered key in the API's field names. */
export function toKeyResponse({ pubKey, keyID, state, root, transaction }: RegisteredKey) {
  return {
    pubKey,
    keyID,
    state,
    ...(root !== undefined && { root }),
    ...(transaction !== undefined && { transaction }),
  };
}

/** A user's refresh token in the API's field names. */
export function toUserTokenResponse({ tokenID, context, created, revoked }: UserTokenInfo) {
  return { token_id: tokenID, context, created, revoked };
}

/** A server's refresh token in the API's field names. */
export function toServerTokenResponse({ tokenID, name, created, revoked }: ServerTokenInfo) {
  return { token_id: tokenID, name, created, revoked };
}

/** A person of a partner's staff in the API's field names. */
export function toPersonResponse({ personID, name, role }: Pick<Person, "personID" | "name" | "role">) {
  return { person_id: personID, name, role };
}

/** An invitation in the API's field names. */
export function toInvitationResponse(invitation: Invitation, url: string) {
  return { ...toPersonResponse(invitation), url, expires: invitation.expires };
}
