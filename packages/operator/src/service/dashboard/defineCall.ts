import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { ServiceError } from "keyroot/errors";
import { tokenRefused } from "../http/authenticator.ts";
import type { ServiceContext } from "../http/context.ts";
import type { App } from "../http/defineOperation.ts";
import { actorOfPerson } from "../store/changes.ts";
import { type Session, sessionRequired } from "../store/sessions.ts";
import { sessionCookieOf } from "./cookie.ts";

/**
 * Who may call: `anyone`; `invited`, whoever has a session, also before a passkey was added; `reader`, everybody with a
 * passkey; `administrator`.
 */
type Access = "anyone" | "invited" | "reader" | "administrator";

/** Whose readers and administrators may call: a partner's, the operator's, or both. */
type Staff = "partner" | "operator" | "both";

/** The session of a partner's person. */
type PartnerSession = Session & { person: { bizID: string } };

type SessionOf<Allowed extends Access, Whose extends Staff> = Allowed extends "anyone"
  ? undefined
  : Allowed extends "invited"
    ? Session
    : Whose extends "partner"
      ? PartnerSession
      : Session;

/** A call of the dashboard's own page. The page and the service have one version, so it is not part of the API. */
interface Call<Body extends z.ZodType, Result extends z.ZodType, Allowed extends Access, Whose extends Staff> {
  /** Under /dashboard/api/. */
  path: string;
  access: Allowed;
  /** Default a partner's. */
  staff?: Whose;
  /** Whether the person must be verified with a passkey right before. Default false. */
  verified?: boolean;
  schema: { body: Body; response: Result };
  handle: (
    body: z.output<Body>,
    session: SessionOf<Allowed, Whose>,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => Promise<z.output<Result>>;
}

/** Adds a call to the dashboard. It checks the session, the role and the verification before it runs. */
export function defineCall<
  Body extends z.ZodType,
  Result extends z.ZodType,
  Allowed extends Access,
  Whose extends Staff = "partner",
>(app: App, context: ServiceContext, call: Call<Body, Result, Allowed, Whose>): void {
  const { path, access, verified = false, schema, handle } = call;
  const staff: Staff = call.staff ?? "partner";
  const { sessions, rateLimits, now } = context;
  const found = new WeakMap<FastifyRequest, Session>();
  const response: Record<number, z.ZodType> = { 200: schema.response };
  app.route({
    method: "POST",
    url: `/dashboard/api/${path}`,
    schema: { hide: true, body: schema.body, response },
    onRequest: async (request, reply) => {
      if (access === "anyone") return;
      const cookie = sessionCookieOf(request);
      const session = cookie === undefined ? undefined : await sessions.get(cookie, now());
      if (session === undefined) throw sessionRequired();
      identify(request, session);
      found.set(request, session);
      await rateLimits.countCaller({ kind: "person", personID: session.person.personID }, reply);
      checkAccess(access, staff, session);
    },
    handler: async (request, reply): Promise<unknown> => {
      const session = found.get(request);
      if (verified && session !== undefined) await requireVerification(context, session);
      return handle(request.body as z.output<Body>, session as SessionOf<Allowed, Whose>, request, reply);
    },
  });
}

/** Names the person in the log. */
export function identify(request: FastifyRequest, { person }: Pick<Session, "person">): void {
  request.actor = actorOfPerson(person);
}

/** Uses up the person's fresh verification. @throws ServiceError VERIFICATION_REQUIRED */
export async function requireVerification(
  { sessions, now }: Pick<ServiceContext, "sessions" | "now">,
  { sessionHash }: Session,
): Promise<void> {
  if (await sessions.useVerification(sessionHash, now())) return;
  throw new ServiceError(403, "VERIFICATION_REQUIRED", "Verify with your passkey that it is you.");
}

/** @throws ServiceError PARTNER_SUSPENDED, for what would give a suspended partner new access */
export async function requireActivePartner(
  { partners }: Pick<ServiceContext, "partners">,
  bizID: string,
): Promise<void> {
  if (await partners.isSuspended(bizID)) throw tokenRefused("suspended");
}

/** @throws ServiceError PASSKEY_REQUIRED, ROLE_REFUSED */
function checkAccess(access: Access, staff: Staff, { person, passkeys }: Session): void {
  if (access !== "invited" && passkeys === 0)
    throw new ServiceError(403, "PASSKEY_REQUIRED", "Add a passkey first. Until then, nothing else is permitted.");
  const own = person.bizID === null ? "operator" : "partner";
  if (access !== "invited" && staff !== "both" && staff !== own)
    throw new ServiceError(
      403,
      "ROLE_REFUSED",
      `This is for people of ${staff === "partner" ? "a partner" : "the operator"}.`,
    );
  if (access === "administrator" && person.role !== "administrator")
    throw new ServiceError(403, "ROLE_REFUSED", "Readers cannot change anything: ask an administrator.");
}
