import type { AnswerOf, BodyOf, OperationPath } from "@keyroot/service";
import { startAuthentication, startRegistration } from "@simplewebauthn/browser";

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
/** A new token, whose value is shown only once. */
export type CreatedToken = AnswerOf<"/v1/authdBizSrv/users/createRefreshToken">;
export type User = AnswerOf<"/v1/dashboard/users/get">;
/** A user's key (if the user has one), its conflicting keys and its history. */
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

/** The error of a call that the service refused or did not answer. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: string;
  /** The problems with fields of the request, by field name. */
  readonly fields: Readonly<Record<string, string>>;

  constructor(code: string, message: string, fields: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.fields = fields;
  }
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

export function signIn(): Promise<Me> {
  return answerWithPasskey("/v1/dashboard/session/signInOptions", "/v1/dashboard/session/signIn");
}

/** Creates a passkey on this device or on a security key. */
export async function addPasskey(): Promise<Me> {
  const options = await call("/v1/dashboard/passkeys/options", {});
  const optionsJSON = options as unknown as Parameters<typeof startRegistration>[0]["optionsJSON"];
  const { id, rawId, type, response } = await withBrowser(() => startRegistration({ optionsJSON }));
  const { clientDataJSON, attestationObject, transports = [] } = response;
  const answer = { id, rawId, type, response: { clientDataJSON, attestationObject, transports } };
  return call("/v1/dashboard/passkeys/add", { answer, name: deviceName() } as BodyOf<"/v1/dashboard/passkeys/add">);
}

/** The browser and operating system of this device, such as "Chrome on macOS". */
function deviceName(): string {
  const { userAgent } = navigator;
  const first = (names: readonly (readonly [RegExp, string])[]) => names.find(([form]) => form.test(userAgent))?.[1];
  const browser = first([
    [/Edg\//, "Edge"],
    [/Firefox\//, "Firefox"],
    [/Chrome\/|CriOS\//, "Chrome"],
    [/Safari\//, "Safari"],
  ]);
  const system = first([
    [/iPhone|iPad/, "iOS"],
    [/Android/, "Android"],
    [/Mac OS X/, "macOS"],
    [/Windows/, "Windows"],
    [/Linux|CrOS/, "Linux"],
  ]);
  return `${browser ?? "Browser"} on ${system ?? "an unknown system"}`;
}

async function answerWithPasskey<Path extends "/v1/dashboard/session/signIn" | "/v1/dashboard/session/verify">(
  optionsPath: "/v1/dashboard/session/signInOptions" | "/v1/dashboard/session/verifyOptions",
  path: Path,
): Promise<AnswerOf<Path>> {
  const options = await send(optionsPath, {});
  const optionsJSON = options as unknown as Parameters<typeof startAuthentication>[0]["optionsJSON"];
  const { id, rawId, type, response } = await withBrowser(() => startAuthentication({ optionsJSON }));
  const { clientDataJSON, authenticatorData, signature, userHandle = null } = response;
  return send(path, {
    answer: { id, rawId, type, response: { clientDataJSON, authenticatorData, signature, userHandle } },
  });
}

/** Browsers do not report whether the person canceled or has no passkey on this device. */
async function withBrowser<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    const name = error instanceof Error ? error.name : "";
    const message =
      name === "InvalidStateError"
        ? "This device has a passkey of yours already."
        : name === "NotAllowedError"
          ? "No passkey was used: you canceled, it took too long, or this device has none for this site."
          : "Your browser could not use a passkey here. Open this page in a current browser, under its own address.";
    throw new CallError("PASSKEY_UNUSED", message);
  }
}

async function send<Path extends OperationPath>(path: Path, body: object): Promise<AnswerOf<Path>> {
  let response: Response;
  let answer: unknown;
  try {
    response = await fetch(`..${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      cache: "no-store",
    });
    answer = await response.json();
  } catch {
    throw new CallError("UNREACHABLE", "The service did not answer. Check your connection, and try again.");
  }
  if (response.ok) return answer as AnswerOf<Path>;
  const problem = answer as { code?: string; detail?: string; errors?: { field: string; detail: string }[] };
  const fields = Object.fromEntries((problem.errors ?? []).map(({ field, detail }) => [field, detail]));
  throw new CallError(problem.code ?? "", problem.detail ?? `The service answered ${response.status}.`, fields);
}
