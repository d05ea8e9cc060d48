import { ServiceError } from "keyroot/errors";
import { bytesToBase64 } from "keyroot/bytes";
import type { UserID } from "keyroot/identity";
import type { Challenge, ChallengeResponse } from "../registration/keyRegistration.ts";
import type { CreatedUser } from "../store/bulkCreation.ts";
import type { KeyEvent } from "../store/keyEvents.ts";
import type { ObjectionOutcome } from "../store/keyObjections.ts";
import type { PartnerSummary } from "../store/partners.ts";
import type { RegisteredKey } from "../store/publicKeys.ts";
import type { ServerTokenInfo, UserTokenInfo } from "../store/refreshTokens.ts";
import type { Invitation, Person } from "../store/staff.ts";
import type { User } from "../store/users.ts";

/** A user in the API's field names (specification, "Shadow user"). */
export function toUserResponse({ userID, bucket, region, salt, created }: User, stage: string) {
  return { user_id: userID, bucket, region, stage, salt, created };
}

/** The result for one user of a list that was created, in the API's field names. */
export function toCreationResponse(result: CreatedUser | ServiceError, stage: string) {
  if (result instanceof ServiceError) return { status: result.status, code: result.code, detail: result.message };
  const { user, token } = result;
  return { status: 201 as const, ...toUserResponse(user, stage), ...(token !== undefined && { token }) };
}

/** A registered key in the API's field names. */
export function toKeyResponse({ state, publishableAt, root, transaction, ...key }: RegisteredKey) {
  const { pubKey, keyID, possession } = key;
  return {
    pubKey,
    keyID,
    possession,
    state,
    ...(state === "pending" && { publishableAt }),
    ...(root !== undefined && { root }),
    ...(transaction !== undefined && { transaction }),
  };
}

/** An event in the API's field names. */
export function toEventResponse({ type, keyID, at, afterWithdrawal }: KeyEvent) {
  return { type, keyID, at, after_withdrawal: afterWithdrawal };
}

/** Throws if a key could not be withdrawn, discarded or approved. @throws ServiceError PUBLIC_KEY_UNKNOWN, PUBLIC_KEY_SUBMITTED */
export function checkObjection(outcome: ObjectionOutcome): void {
  if (outcome === "unknown")
    throw new ServiceError(404, "PUBLIC_KEY_UNKNOWN", "The user has no public key with this keyID.");
  if (outcome === "done") return;
  const message = "The key is being published, or is on the chain: this is not possible any more.";
  throw new ServiceError(409, "PUBLIC_KEY_SUBMITTED", message);
}

/** A challenge in the API's field names; only the state of a key that is registered and needs none. */
export function toChallengeResponse(userID: UserID, made: Challenge | RegisteredKey) {
  if ("state" in made) return { user_id: userID, state: made.state };
  const { nonce, ephemeralKey, expires, service, registry } = made;
  return {
    user_id: userID,
    state: "unregistered" as const,
    challenge: bytesToBase64(nonce),
    ephemeralKey: bytesToBase64(ephemeralKey),
    expires,
    service,
    chainId: registry?.chainId ?? null,
    contract: registry?.contract ?? null,
  };
}

/** The response to a challenge in a request. @throws ServiceError FIELD_MISSING if one of the two fields is missing */
export function toChallengeAnswer(nonce?: string, response?: string): ChallengeResponse | undefined {
  if (nonce !== undefined && response !== undefined) return { nonce, response };
  if (nonce === undefined && response === undefined) return undefined;
  const field = nonce === undefined ? "challenge" : "response";
  const errors = [{ field, detail: "is missing" }];
  throw new ServiceError(400, "FIELD_MISSING", `The request is invalid: ${field}: is missing.`, { errors });
}

/** A user's refresh token in the API's field names. */
export function toUserTokenResponse({ tokenID, context, created, revoked, lastUsed }: UserTokenInfo) {
  return { token_id: tokenID, context, created, revoked, last_used: lastUsed };
}

/** A server's refresh token in the API's field names. */
export function toServerTokenResponse({ tokenID, name, created, revoked, lastUsed }: ServerTokenInfo) {
  return { token_id: tokenID, name, created, revoked, last_used: lastUsed };
}

/** A partner in the API's field names. */
export function toPartnerResponse(partner: PartnerSummary) {
  const { bizID, name, created, suspended, userLimit, users, pendingKeys, publishedKeys, serverTokens } = partner;
  return {
    biz_id: bizID,
    name,
    created,
    suspended,
    user_limit: userLimit,
    users,
    pending_keys: pendingKeys,
    published_keys: publishedKeys,
    server_tokens: serverTokens,
  };
}

/** A person of a partner's staff in the API's field names. */
export function toPersonResponse({ personID, name, role }: Pick<Person, "personID" | "name" | "role">) {
  return { person_id: personID, name, role };
}

/** An invitation in the API's field names. */
export function toInvitationResponse(invitation: Invitation, url: string) {
  return { ...toPersonResponse(invitation), url, expires: invitation.expires };
}
