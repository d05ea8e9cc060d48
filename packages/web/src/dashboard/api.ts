import { startAuthentication, startRegistration } from "@simplewebauthn/browser";

export type Role = "administrator" | "reader";

interface Person {
  person_id: string;
  name: string;
  role: Role;
}

/** The company of a partner's people. */
export interface Partner {
  biz_id: string;
  name: string;
  suspended: boolean;
}

/** Who is signed in. */
export interface Me {
  person: Person;
  /** Null for people of the operator. */
  partner: Partner | null;
  /** Null if the service does not know an explorer. */
  explorer_url: string | null;
  passkeys: number;
}

/** Whether the person may change things. Readers see them only. */
export function isAdministrator({ person }: Me): boolean {
  return person.role === "administrator";
}

/** A person of the staff. Times are in milliseconds since 1970. */
export interface StaffMember extends Person {
  created: number;
  last_sign_in: number | null;
  invitation_expires: number | null;
  passkeys: number;
}

/** The link of an invitation, shown once. */
export interface Invitation extends Person {
  url: string;
  expires: number;
}

export interface PasskeyInfo {
  passkey_id: string;
  created: number;
  last_used: number | null;
}

/** A refresh token without its value. Times are in milliseconds since 1970. */
export interface Token {
  token_id: string;
  created: number;
  revoked: number | null;
  /** The beginning of the hour of its last use. */
  last_used: number | null;
}

export interface ServerToken extends Token {
  name: string | null;
}

export interface UserToken extends Token {
  context: string;
}

/** A new token, shown once. */
export interface CreatedToken {
  token: string;
}

/** A user of the partner. */
export interface User {
  user_id: string;
  region: string;
  created: number;
  deactivated: number | null;
}

/** Another key than the user's. */
export interface OtherKey {
  keyID: string;
  /** When it was offered. */
  offered: number;
  /** Whether the user's app registered and withdrew it. Otherwise, it was refused. */
  withdrawn: boolean;
}

/** The registered key of a user. */
export interface UserKey {
  state: "pending" | "submitted" | "published";
  possession: "proven" | "unproven";
  keyID: string;
  /** Of a pending key; null while the partner must decide. */
  publishable_at: number | null;
  root: string | null;
  transaction: string | null;
  /** About which the partner has not decided, the first one first. */
  other_keys: OtherKey[];
}

/** What was published for the partner on a day (UTC). */
export interface PublishedDay {
  /** Milliseconds since 1970. */
  day: number;
  users: number;
  /** In wei. */
  cost: string;
  /** Those of the users whose cost was not recorded. */
  unpriced: number;
}

export interface Publishing {
  days: PublishedDay[];
  pending: { waiting: number; undecided: number; ready: number };
}

/** The partner's part of a batch. */
export interface BatchShare {
  root: string;
  region: string;
  users: number;
  created: number;
  confirmed: number | null;
  state: "submitted" | "published";
  transaction: string | null;
  block: number | null;
  gas: number | null;
  /** In wei. */
  cost: string | null;
}

/** A key that is in no batch. */
export interface PendingKey {
  user_id: string;
  region: string;
  registered: number;
  /** Null while the partner must decide. */
  publishable_at: number | null;
  submitted: boolean;
}

/** Where the partner receives events. Times are in milliseconds since 1970. */
export interface WebhookEndpoint {
  endpoint_id: string;
  url: string;
  /** An empty list for all types of events. */
  types: string[];
  created: number;
  paused: number | null;
}

export interface Webhooks {
  /** Whether this service sends webhooks. */
  enabled: boolean;
  endpoints: WebhookEndpoint[];
}

/** An event that is sent to an endpoint. Times are in milliseconds since 1970. */
export interface Delivery {
  event_id: string;
  type: string;
  state: "pending" | "delivered" | "failed";
  attempts: number;
  created: number;
  last_attempt: number | null;
  next_attempt: number | null;
  /** The status of the last response. */
  status: number | null;
  error: string | null;
}

/** What an endpoint responded to a test. */
export interface WebhookTest {
  delivered: boolean;
  status: number | null;
  error: string | null;
  /** In milliseconds. */
  duration: number;
}

/** An entry of the audit log. */
export interface AuditEntry {
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  action: string;
  actor: { kind: string; id: string | null; name: string | null; token_id: string | null };
  biz_id: string | null;
  user_id: string | null;
  data: Record<string, string | number | boolean | null>;
  request_id: string | null;
  address: string | null;
}

/** A partner with its numbers, for the operator. */
export interface PartnerSummary {
  biz_id: string;
  name: string;
  created: number;
  suspended: number | null;
  user_limit: number | null;
  users: number;
  pending_keys: number;
  published_keys: number;
  server_tokens: number;
}

/** A batch that was published now. */
interface PublishedBatch {
  root: string;
  users: number;
  block: number;
}

/** A run of the publisher that a person started. Times are in milliseconds since 1970. */
export interface PublishRun {
  started: number;
  /** Null while it runs. */
  ended: number | null;
  batches: PublishedBatch[];
  error: string | null;
}

/** What the service needs, for the operator. An `error` is a code, or null. Amounts are in wei. */
export interface SystemStatus {
  databases: { name: string; error: string | null }[];
  publishing: {
    chain: {
      chain_id: number;
      contract: string;
      error: string | null;
      state: { block: number; owner: string; balance: string; fee: string } | null;
    };
    stores: { region: string; location: string; error: string | null }[];
    publishable: number;
    /** Whether any replica publishes now. */
    running: boolean;
    /** The last one in the replica that answered. */
    last_run: PublishRun | null;
  } | null;
}

/** A call that failed: refused by the service, or not answered. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: string;
  /** What is wrong with fields of the request, by their names. */
  readonly fields: Readonly<Record<string, string>>;

  constructor(code: string, message: string, fields: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.fields = fields;
  }
}

/** Sent to the window when the session has ended. */
export const SIGNED_OUT = "keyroot-signed-out";

/**
 * Calls the service. If it requires fresh verification, the person uses the passkey, and the call is repeated.
 * @throws CallError
 */
export async function call<Result>(path: string, body: object = {}): Promise<Result> {
  try {
    return await send<Result>(path, body);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.code === "SESSION_REQUIRED") dispatchEvent(new Event(SIGNED_OUT));
    if (error.code !== "VERIFICATION_REQUIRED") throw error;
    await answerWithPasskey("session/verifyOptions", "session/verify");
    return send<Result>(path, body);
  }
}

/** Signs in with a passkey that the person chooses. */
export function signIn(): Promise<Me> {
  return answerWithPasskey<Me>("session/signInOptions", "session/signIn");
}

/** Makes a passkey on this device or on a security key. */
export async function addPasskey(): Promise<Me> {
  const optionsJSON = await call<Parameters<typeof startRegistration>[0]["optionsJSON"]>("passkeys/options");
  const { id, rawId, type, response } = await withBrowser(() => startRegistration({ optionsJSON }));
  const { clientDataJSON, attestationObject, transports = [] } = response;
  const answer = { id, rawId, type, response: { clientDataJSON, attestationObject, transports } };
  return call<Me>("passkeys/add", { answer });
}

async function answerWithPasskey<Result>(optionsPath: string, path: string): Promise<Result> {
  const optionsJSON = await send<Parameters<typeof startAuthentication>[0]["optionsJSON"]>(optionsPath, {});
  const { id, rawId, type, response } = await withBrowser(() => startAuthentication({ optionsJSON }));
  const { clientDataJSON, authenticatorData, signature, userHandle = null } = response;
  const answer = { id, rawId, type, response: { clientDataJSON, authenticatorData, signature, userHandle } };
  return send<Result>(path, { answer });
}

/** The browser does not say whether the person canceled or has no passkey here. */
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

async function send<Result>(path: string, body: object): Promise<Result> {
  let response: Response;
  let answer: unknown;
  try {
    response = await fetch(`./api/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      cache: "no-store",
    });
    answer = await response.json();
  } catch {
    throw new CallError("UNREACHABLE", "The service did not answer. Check your connection, and try again.");
  }
  if (response.ok) return answer as Result;
  const problem = answer as { code?: string; detail?: string; errors?: { field: string; detail: string }[] };
  const fields = Object.fromEntries((problem.errors ?? []).map(({ field, detail }) => [field, detail]));
  throw new CallError(problem.code ?? "", problem.detail ?? `The service answered ${response.status}.`, fields);
}
