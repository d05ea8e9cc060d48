import { ServiceError } from "keyroot/errors";
import type { ServiceContext } from "../http/context.ts";
import type { App } from "../http/defineOperation.ts";
import { authorOf, requestOf } from "../http/requestLog.ts";
import type { Person } from "../store/staff.ts";
import { clearSessionCookie, sessionCookieOf, setSessionCookie } from "./cookie.ts";
import { defineCall, identify, requireVerification } from "./defineCall.ts";
import { type AnswerTo, Passkeys } from "./passkeys.ts";
import { calls } from "./schemas.ts";

/** Signing in and out, and a person's own passkeys. */
export function sessionCalls(app: App, context: ServiceContext): void {
  const { sessions, passkeys: store, partners, rateLimits, now } = context;
  const passkeys = new Passkeys(context);

  const describePartner = async (bizID: string) => {
    const [partner, suspended] = await Promise.all([partners.find(bizID), partners.isSuspended(bizID)]);
    return { biz_id: bizID, name: partner?.name ?? "", suspended };
  };
  const describe = async (person: Person, count: number) => {
    const { bizID } = person;
    const partner = bizID === null ? null : await describePartner(bizID);
    return {
      person: { person_id: person.personID, name: person.name, role: person.role },
      partner,
      explorer_url: context.explorerUrl ?? null,
      passkeys: count,
    };
  };

  defineCall(app, context, {
    path: "invitations/accept",
    access: "anyone",
    schema: { body: calls.accept, response: calls.me },
    async handle({ token }, _session, request, reply) {
      const earlier = sessionCookieOf(request);
      const started = await sessions.startWithInvitation(token, now(), requestOf(request), earlier);
      if (started === undefined) {
        const message = "This link has been used, has expired or was replaced: get a new invitation.";
        throw new ServiceError(403, "INVITATION_REFUSED", message);
      }
      identify(request, started);
      setSessionCookie(reply, started.cookie);
      // An invitation ends all earlier passkeys.
      return describe(started.person, 0);
    },
  });

  defineCall(app, context, {
    path: "session/get",
    access: "invited",
    schema: { body: calls.empty, response: calls.me },
    handle: (_body, { person, passkeys: count }) => describe(person, count),
  });

  defineCall(app, context, {
    path: "session/signInOptions",
    access: "anyone",
    schema: { body: calls.empty, response: calls.options },
    async handle(_body, _session, request, reply) {
      // Each call stores a challenge, whoever sends it.
      rateLimits.countRefused(request, reply);
      return { ...(await passkeys.authenticationOptions(undefined, request)) };
    },
  });

  defineCall(app, context, {
    path: "session/signIn",
    access: "anyone",
    schema: { body: calls.authentication, response: calls.me },
    async handle({ answer }, _session, request, reply) {
      const verified = await passkeys.verifyAuthentication(answer as AnswerTo<"authenticate">, undefined, request);
      const { credentialID, counter, person } = verified;
      const passkey = { personID: person.personID, credentialID, counter };
      const earlier = sessionCookieOf(request);
      const started = await sessions.startWithPasskey(passkey, now(), requestOf(request), earlier);
      if (started === undefined) throw new ServiceError(403, "PASSKEY_REFUSED", "This passkey was removed.");
      identify(request, started);
      setSessionCookie(reply, started.cookie);
      return describe(started.person, (await store.listOf(person.personID)).length);
    },
  });

  defineCall(app, context, {
    path: "session/verifyOptions",
    access: "reader",
    staff: "both",
    schema: { body: calls.empty, response: calls.options },
    handle: async (_body, session, request) => ({ ...(await passkeys.authenticationOptions(session, request)) }),
  });

  defineCall(app, context, {
    path: "session/verify",
    access: "reader",
    staff: "both",
    schema: { body: calls.authentication, response: calls.empty },
    async handle({ answer }, session, request) {
      const verified = await passkeys.verifyAuthentication(answer as AnswerTo<"authenticate">, session, request);
      await store.setUsed(verified.credentialID, verified.counter, now());
      await sessions.setVerified(session.sessionHash, now());
      return {};
    },
  });

  defineCall(app, context, {
    path: "session/end",
    access: "invited",
    schema: { body: calls.empty, response: calls.empty },
    async handle(_body, session, request, reply) {
      await sessions.end(session, now(), authorOf(request));
      clearSessionCookie(reply);
      return {};
    },
  });

  defineCall(app, context, {
    path: "passkeys/options",
    access: "invited",
    schema: { body: calls.empty, response: calls.options },
    async handle(_body, session, request) {
      // The first passkey follows an invitation. Whoever finds an open page must not add another one.
      if (session.passkeys > 0) await requireVerification(context, session);
      return { ...(await passkeys.registrationOptions(session, request)) };
    },
  });

  defineCall(app, context, {
    path: "passkeys/add",
    access: "invited",
    schema: { body: calls.registration, response: calls.me },
    async handle({ answer }, session, request) {
      const { person, passkeys: count } = session;
      const passkey = await passkeys.verifyRegistration(answer, session, request);
      await store.add(session, passkey, now(), authorOf(request));
      return describe(person, count + 1);
    },
  });

  defineCall(app, context, {
    path: "passkeys/list",
    access: "reader",
    staff: "both",
    schema: { body: calls.empty, response: calls.passkeys },
    async handle(_body, { person }) {
      const own = await store.listOf(person.personID);
      return {
        passkeys: own.map(({ credentialID, created, lastUsed }) => ({
          passkey_id: credentialID,
          created,
          last_used: lastUsed,
        })),
      };
    },
  });

  defineCall(app, context, {
    path: "passkeys/remove",
    access: "reader",
    staff: "both",
    verified: true,
    schema: { body: calls.passkeyID, response: calls.empty },
    async handle({ passkey_id }, { person }, request) {
      if (!(await store.remove(person, passkey_id, now(), authorOf(request))))
        throw new ServiceError(404, "PASSKEY_UNKNOWN", "You have no such passkey.");
      return {};
    },
  });
}
