import type { FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "./base/errors.ts";
import { sessionCookieOf } from "./sessionCookie.ts";
import { actorOf, actorOfPerson } from "./base/author.ts";
import type { Session } from "./base/principals.ts";
import { type ApiContext, baseUrlOf } from "./context.ts";
import {
  type AnyPrincipal,
  isForReaders,
  isForStaff,
  isVerified,
  type Operation,
  tokenCallerOf,
} from "./defineOperation.ts";

export type Policy = Pick<Operation, "callers" | "role" | "reads" | "unverified" | "duringSuspension">;

/**
 * Identifies the caller of an operation by the bearer token. Without an `Authorization` header, the session cookie is
 * used instead. The request then counts toward the caller's rate limit.
 * @throws ServiceError with the codes of `Authenticator`, `authenticateSession` and `RateLimits.countCaller`
 */
export async function authenticate(
  policy: Policy,
  context: ApiContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AnyPrincipal> {
  const { authenticator, rateLimits, now } = context;
  const caller = tokenCallerOf(policy);
  if (isForStaff(policy) && (caller === undefined || isFromPage(request)))
    return authenticateSession(policy, context, request, reply);
  if (caller === "operator") {
    rateLimits.requireFewRefused(request, reply);
    authenticator.requireAdmin(request);
    request.actor = { kind: "operator" };
    await rateLimits.countCaller("operator", reply);
    return { kind: "operator" };
  }
  if (caller === "public" || caller === undefined) return undefined;
  const suspendedToo = caller === "user" && policy.duringSuspension === true;
  const principal = await authenticator.principalOf(request, caller, now(), suspendedToo);
  request.actor = actorOf(principal);
  await rateLimits.countCaller(principal, reply);
  return principal;
}

/** Whether a request without a bearer token comes from a web page or has a session cookie. */
function isFromPage(request: FastifyRequest): boolean {
  const { authorization, origin } = request.headers;
  return authorization === undefined && (origin !== undefined || sessionCookieOf(request) !== undefined);
}

/** @throws ServiceError ORIGIN_REFUSED, SESSION_REQUIRED, PASSKEY_REQUIRED, ROLE_REFUSED, RATE_LIMITED */
async function authenticateSession(
  policy: Policy,
  context: ApiContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AnyPrincipal> {
  requireOwnOrigin(context, request);
  if (policy.callers.includes("visitor")) {
    context.rateLimits.requireFewRefused(request, reply);
    return undefined;
  }
  const cookie = sessionCookieOf(request);
  const session = cookie === undefined ? undefined : await context.sessions.get(cookie, context.now());
  if (session === undefined) throw sessionRequired();
  identify(request, session);
  const { personID, bizID } = session.person;
  await context.rateLimits.countCaller({ kind: "person", personID }, reply);
  checkAccess(policy, session);
  return { kind: "person", bizID, session };
}

/**
 * Rejects requests from pages of other origins. The cookie's attribute SameSite=Strict is not enough, because it allows
 * requests from other ports and subdomains of the same site.
 */
function requireOwnOrigin(context: ApiContext, request: FastifyRequest): void {
  const { origin, "sec-fetch-site": site = "same-origin" } = request.headers;
  const own = new URL(baseUrlOf(context, request)).origin;
  if (origin === own && site === "same-origin") return;
  const message = `The request does not come from the dashboard's page. Open ${own}/dashboard/.`;
  throw new ServiceError(403, "ORIGIN_REFUSED", message);
}

/** Checks that a person may call the operation. @throws ServiceError PASSKEY_REQUIRED, ROLE_REFUSED */
function checkAccess(policy: Policy, { person, passkeys }: Session): void {
  const { callers } = policy;
  if (callers.includes("invited")) return;
  if (passkeys === 0)
    throw new ServiceError(403, "PASSKEY_REQUIRED", "You have no passkey. Add a passkey before you do anything else.");
  if (!callers.includes(person.bizID === null ? "operatorStaff" : "partnerStaff")) {
    const message = `Only the staff of ${person.bizID === null ? "a partner" : "the operator"} may do this.`;
    throw new ServiceError(403, "ROLE_REFUSED", message);
  }
  if (!isForReaders(policy) && person.role !== "administrator")
    throw new ServiceError(403, "ROLE_REFUSED", "Readers cannot change anything. Ask an administrator.");
}

/** Sets the person as the request's actor in the log. */
export function identify(request: FastifyRequest, { person }: Pick<Session, "person">): void {
  request.actor = actorOfPerson(person);
}

/**
 * Requires a recent passkey verification in the session, which allows a single request.
 * @throws ServiceError VERIFICATION_REQUIRED
 */
export async function requireVerification(
  { sessions, now }: Pick<ApiContext, "sessions" | "now">,
  { sessionHash }: Session,
): Promise<void> {
  if (await sessions.useVerification(sessionHash, now())) return;
  throw new ServiceError(403, "VERIFICATION_REQUIRED", "This change requires a passkey. Verify it with your passkey.");
}

/**
 * Checks the passkey verification if the operation requires it. While the partner is suspended, an administrator's
 * operation is also rejected, unless the operation is allowed during a suspension.
 * @throws ServiceError VERIFICATION_REQUIRED, PARTNER_SUSPENDED
 */
export async function checkStaffRequest(
  policy: Policy,
  context: Pick<ApiContext, "sessions" | "partners" | "now">,
  principal: AnyPrincipal,
): Promise<void> {
  if (principal?.kind !== "person") return;
  const { duringSuspension = false } = policy;
  const { bizID, session } = principal;
  if (isVerified(policy)) await requireVerification(context, session);
  if (!isForReaders(policy) && !duringSuspension) await refuseSuspended(context, bizID);
}

/** @throws ServiceError PARTNER_SUSPENDED */
export async function refuseSuspended({ partners }: Pick<ApiContext, "partners">, bizID: string | null): Promise<void> {
  if (bizID !== null && (await partners.isSuspended(bizID))) throw partnerSuspended();
}

export function sessionRequired(): ServiceError {
  return new ServiceError(401, "SESSION_REQUIRED", "You are signed out. Sign in again.");
}

export function partnerSuspended(): ServiceError {
  const message =
    "The service's operator suspended this partner. Its tokens are rejected until the operator resumes it.";
  return new ServiceError(403, "PARTNER_SUSPENDED", message);
}
