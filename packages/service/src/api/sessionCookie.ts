import type { FastifyReply, FastifyRequest } from "fastify";

/** Maximum duration of a session, in ms. */
export const MAX_SESSION_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * The session cookie's name. Browsers accept the `__Host-` prefix only with the attributes Secure and Path=/, and
 * without Domain (RFC 6265bis, section 4.1.3.2). They treat http://localhost as secure.
 */
const NAME = "__Host-keyroot";
const ATTRIBUTES = { path: "/", httpOnly: true, secure: true, sameSite: "strict" } as const;
/** The form of the cookie's value: 256 bits in base64url. */
const FORM = /^[A-Za-z0-9_-]{43}$/;

/** @returns undefined if the request has no cookie of the valid form */
export function sessionCookieOf({ cookies }: FastifyRequest): string | undefined {
  const value = cookies[NAME];
  return value !== undefined && FORM.test(value) ? value : undefined;
}

export function setSessionCookie(reply: FastifyReply, value: string): void {
  reply.setCookie(NAME, value, { ...ATTRIBUTES, maxAge: MAX_SESSION_MS / 1000 });
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(NAME, ATTRIBUTES);
}
