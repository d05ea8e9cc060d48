import type { AnswerOf, BodyOf, OperationPath } from "@keyroot/service";
import { answerWithPasskey } from "./answerWithPasskey.ts";
import { CallError, send } from "./send.ts";

export type Me = AnswerOf<"/v1/dashboard/session/get">;
export type Role = Me["person"]["role"];
/** The partner company of the signed-in person. */
export type Partner = NonNullable<Me["partner"]>;
export type StaffMember = AnswerOf<"/v1/dashboard/staff/list">["people"][number];
/** A new invitation with its link. The page shows the link only once. */
export type Invitation = AnswerOf<"/v1/dashboard/staff/invite">;
export type PasskeyInfo = AnswerOf<"/v1/dashboard/passkeys/list">["passkeys"][number];
export type ServerToken = AnswerOf<"/v1/authdBizSrv/serverTokens/list">["tokens"][number];
export type UserToken = AnswerOf<"/v1/authdBizSrv/users/listRefreshTokens">["tokens"][number];
/** A refresh token without the token's secret value. */
export type Token = Omit<ServerToken, "name">;
export type User = AnswerOf<"/v1/dashboard/users/get">;
/** A user's key, the conflicting keys, and the history of the user's keys. */
export type UserKey = AnswerOf<"/v1/authdBizSrv/publicKeys/get">;
/** A statement of a user's account: the authorization of a key, with its state. */
export type AccountStatement = AnswerOf<"/v1/authdBizSrv/accounts/get">["statements"][number];
export type ConflictingKey = UserKey["conflicting_keys"][number];
export type Publishing = AnswerOf<"/v1/dashboard/publishing/get">;
/** The keys that were published for the partner on one day (UTC). */
export type PublishedDay = Publishing["days"][number];
export type BatchShare = AnswerOf<"/v1/dashboard/publishing/listBatches">["batches"][number];
type Webhooks = AnswerOf<"/v1/authdBizSrv/webhooks/list">;
export type WebhookEndpoint = Webhooks["endpoints"][number];
export type Delivery = AnswerOf<"/v1/authdBizSrv/webhooks/listDeliveries">["deliveries"][number];
export type WebhookTest = AnswerOf<"/v1/authdBizSrv/webhooks/test">;
export type AuditEntry = AnswerOf<"/v1/authdBizSrv/audit/list">["entries"][number];
/** A partner with counts, such as the number of users. */
export type PartnerSummary = AnswerOf<"/v1/admin/partners/get">;
export type PublishRun = AnswerOf<"/v1/dashboard/publishing/start">;
/** The state of the service. Only the operator's staff may read this state. */
export type SystemStatus = AnswerOf<"/v1/dashboard/status/get">;

/** Whether the person may make changes. Readers may not. */
export function isAdministrator({ person }: Me): boolean {
  return person.role === "administrator";
}

/** The name of the window event after which the person must sign in again. */
export const SESSION_ENDED = "keyroot-session-ended";

/**
 * Calls an operation of the service. If the operation requires verification, it asks the person for a passkey, and
 * repeats the call.
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
