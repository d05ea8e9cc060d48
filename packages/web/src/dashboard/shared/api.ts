import type { AnswerOf, BodyOf, OperationPath } from "@keyroot/service";
import { answerWithPasskey } from "./answerWithPasskey.ts";
import { CallError, send } from "./send.ts";

export type Me = AnswerOf<"/v1/dashboard/session/get">;
export type Role = Me["person"]["role"];
/** The partner company of the signed-in person. */
export type Partner = NonNullable<Me["partner"]>;
export type StaffMember = AnswerOf<"/v1/dashboard/staff/list">["people"][number];
/** The link of an invitation, which is shown only once. */
export type Invitation = AnswerOf<"/v1/dashboard/staff/invite">;
export type PasskeyInfo = AnswerOf<"/v1/dashboard/passkeys/list">["passkeys"][number];
export type ServerToken = AnswerOf<"/v1/authdBizSrv/serverTokens/list">["tokens"][number];
export type UserToken = AnswerOf<"/v1/authdBizSrv/users/listRefreshTokens">["tokens"][number];
/** A refresh token without its secret value. */
export type Token = Omit<ServerToken, "name">;
/** A new token. Its value is shown only once. */
export type CreatedToken = AnswerOf<"/v1/authdBizSrv/users/createRefreshToken">;
export type User = AnswerOf<"/v1/dashboard/users/get">;
/** A user's key, the conflicting keys, and the history of the user's keys. */
export type UserKey = AnswerOf<"/v1/authdBizSrv/publicKeys/get">;
export type ConflictingKey = UserKey["conflicting_keys"][number];
export type Publishing = AnswerOf<"/v1/dashboard/publishing/get">;
/** The keys that were published for the partner on one day (UTC). */
export type PublishedDay = Publishing["days"][number];
export type BatchShare = AnswerOf<"/v1/dashboard/publishing/listBatches">["batches"][number];
export type PendingKey = AnswerOf<"/v1/dashboard/publishing/listPending">["keys"][number];
type Webhooks = AnswerOf<"/v1/authdBizSrv/webhooks/list">;
export type WebhookEndpoint = Webhooks["endpoints"][number];
export type Delivery = AnswerOf<"/v1/authdBizSrv/webhooks/listDeliveries">["deliveries"][number];
export type WebhookTest = AnswerOf<"/v1/authdBizSrv/webhooks/test">;
export type AuditEntry = AnswerOf<"/v1/authdBizSrv/audit/list">["entries"][number];
/** A partner and its numbers, for the operator. */
export type PartnerSummary = AnswerOf<"/v1/admin/partners/get">;
export type PublishRun = AnswerOf<"/v1/dashboard/publishing/start">;
/** The state of the service, which only the operator may see. */
export type SystemStatus = AnswerOf<"/v1/dashboard/status/get">;

/** Whether the person may make changes. Readers may not. */
export function isAdministrator({ person }: Me): boolean {
  return person.role === "administrator";
}

/** The event that is sent to the window when the service requires a new session. */
export const SESSION_ENDED = "keyroot-session-ended";

/**
 * Calls an operation of the service. If it requires verification, the person uses a passkey and the call is repeated.
 * @throws CallError
 */
export async function call<Path extends OperationPath>(path: Path, body: BodyOf<Path>): Promise<AnswerOf<Path>> {
  try {
    return await send(path, body);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.code === "SESSION_REQUIRED") dispatchEvent(new Event(SESSION_ENDED));
    if (error.code !== "VERIFICATION_REQUIRED") throw error;
    await answerWithPasskey("/v1/dashboard/session/verifyOptions", "/v1/dashboard/session/verify");
    return send(path, body);
  }
}
