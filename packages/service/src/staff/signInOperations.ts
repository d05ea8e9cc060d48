import { answerFrom } from "../api/answerFrom.ts";
import { z } from "zod";
import { ServiceError } from "../api/base/errors.ts";
import { identify, refuseSuspended, requireVerification } from "../api/authenticate.ts";
import type { PartnerStore } from "../partners/partners.ts";
import { operationsWith } from "../api/defineOperation.ts";
import { amount, empty, name, strict, timestamp } from "../api/fields.ts";
import { requestOf } from "../api/requestLog.ts";
import { clearSessionCookie, sessionCookieOf, setSessionCookie } from "../api/sessionCookie.ts";
import { type InvitationStore, useInvitation } from "./invitations.ts";
import { type AnswerTo, type PasskeyContext, Passkeys } from "./passkeyChecks.ts";
import { recordUse } from "./sessions.ts";
import { type Person, ROLES } from "../api/base/principals.ts";

export const role = z.enum(ROLES).meta({
  description: "The person's role in the dashboard. An administrator can change everything, and a reader nothing.",
});
export const person = { person_id: z.uuid().meta({ description: "The id of the person." }), name, role };
const me = strict({
  person: strict(person),
  partner: strict({ biz_id: z.string(), name, suspended: z.boolean() })
    .nullable()
    .meta({ description: "Null for the operator's staff." }),
  explorer_url: z.string().nullable().meta({ description: "Null if KEYROOT_EXPLORER_URL is unset." }),
  block_explorer_url: z.string().nullable().meta({ description: "Null if KEYROOT_BLOCK_EXPLORER_URL is unset." }),
  stage: z.string().meta({ description: "The name of the deployment stage." }),
  chain_id: amount.nullable().meta({ description: "Null if the service does not publish." }),
  passkeys: amount,
});
const passkey = strict({
  passkey_id: z.string(),
  name: z.string().nullable().meta({ description: "The device, or another name that the person chose." }),
  created: timestamp,
  last_used: timestamp.nullable(),
});
const base64url = z
  .string()
  .min(1)
  .max(8000)
  .regex(/^[A-Za-z0-9_-]+$/);
/** The options of the browser's passkey functions. The WebAuthn library defines the other fields. */
const passkeyOptions = z.looseObject({ challenge: z.string() });
const passkeyAnswer = <Shape extends z.core.$ZodLooseShape>(response: Shape) =>
  strict({
    answer: strict({ id: base64url, rawId: base64url, type: z.literal("public-key"), response: strict(response) }),
  });
const authentication = passkeyAnswer({
  clientDataJSON: base64url,
  authenticatorData: base64url,
  signature: base64url,
  userHandle: base64url.nullish(),
});
const registration = passkeyAnswer({
  clientDataJSON: base64url,
  attestationObject: base64url,
  transports: z.array(z.enum(["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"])).max(8),
});

export interface SignInContext extends PasskeyContext {
  /** The registry in which the service publishes keys. Undefined if the service does not publish keys. */
  registry: { chainId: number } | undefined;
  partners: PartnerStore;
  invitations: InvitationStore;
  explorerUrl: string | undefined;
  blockExplorerUrl: string | undefined;
}

const defineOperation = operationsWith<SignInContext>();

/** The operations on the calling person's invitation, sessions and passkeys. */
export const signInOperations = [
  defineOperation({
    path: "/v1/dashboard/invitations/accept",
    callers: ["visitor"],
    summary: "Start a session with the link of an invitation",
    body: strict({ token: z.string().min(1).max(64) }),
    answer: me,
    async handle({ token }, { context, request, reply }) {
      const { invitations, sessions, now } = context;
      const personID = await invitations.findPerson(token);
      const started =
        personID &&
        (await sessions.start(personID, now(), requestOf(request), sessionCookieOf(request), (transaction) =>
          useInvitation(transaction, token, now()),
        ));
      if (!started) {
        const message = "This link was used before, has expired or was replaced. Get a new invitation.";
        throw new ServiceError(403, "INVITATION_REFUSED", message);
      }
      identify(request, started);
      setSessionCookie(reply, started.cookie);
      // The invitation ended all earlier passkeys.
      return describeMe(context, started.person, 0);
    },
  }),

  defineOperation({
    path: "/v1/dashboard/session/get",
    callers: ["invited"],
    reads: true,
    summary: "Get the person of the session",
    body: empty,
    answer: me,
    handle: (_body, { context, principal: { session } }) => describeMe(context, session.person, session.passkeys),
  }),

  defineOperation({
    path: "/v1/dashboard/session/signInOptions",
    callers: ["visitor"],
    summary: "Get a challenge to sign in with a passkey",
    body: empty,
    answer: passkeyOptions,
    async handle(_body, { context, request, reply }) {
      // A caller without a session can store challenges, so each call is counted like a rejected request.
      context.rateLimits.countRefused(request, reply);
      return { ...(await new Passkeys(context).authenticationOptions(undefined, request)) };
    },
  }),

  defineOperation({
    path: "/v1/dashboard/session/signIn",
    callers: ["visitor"],
    summary: "Start a session with a passkey",
    body: authentication,
    answer: me,
    async handle({ answer }, { context, request, reply }) {
      const signature = answer as AnswerTo<"authenticate">;
      const { credentialID, counter, person } = await new Passkeys(context).verifyAuthentication(
        signature,
        undefined,
        request,
      );
      const { sessions, now } = context;
      const earlier = sessionCookieOf(request);
      const started = await sessions.start(person.personID, now(), requestOf(request), earlier, (transaction) =>
        recordUse(transaction, credentialID, counter, now()),
      );
      if (started === undefined) throw passkeyNotUsable();
      identify(request, started);
      setSessionCookie(reply, started.cookie);
      return describeMe(context, started.person, (await context.passkeys.listOf(person.personID)).length);
    },
  }),

  defineOperation({
    path: "/v1/dashboard/session/verifyOptions",
    callers: ["partnerStaff", "operatorStaff"],
    role: "reader",
    unverified: "It begins the verification.",
    summary: "Get a challenge for fresh verification",
    body: empty,
    answer: passkeyOptions,
    async handle(_body, { context, principal: { session }, request }) {
      return { ...(await new Passkeys(context).authenticationOptions(session, request)) };
    },
  }),

  defineOperation({
    path: "/v1/dashboard/session/verify",
    callers: ["partnerStaff", "operatorStaff"],
    role: "reader",
    unverified: "It is the verification.",
    summary: "Verify the person for the next change",
    body: authentication,
    answer: empty,
    async handle({ answer }, { context, principal: { session }, request }) {
      const signature = answer as AnswerTo<"authenticate">;
      const passkeys = new Passkeys(context);
      const { credentialID, counter } = await passkeys.verifyAuthentication(signature, session, request);
      if (!(await recordUse(context.databases.home, credentialID, counter, context.now()))) throw passkeyNotUsable();
      await context.sessions.setVerified(session.sessionHash, context.now());
      return {};
    },
  }),

  defineOperation({
    path: "/v1/dashboard/session/end",
    callers: ["invited"],
    unverified: "Ending a session only takes access away from the person who ends it.",
    summary: "End the session",
    body: empty,
    answer: empty,
    async handle(_body, { context, principal: { session }, author, reply }) {
      await context.sessions.end(session, context.now(), author);
      clearSessionCookie(reply);
      return {};
    },
  }),

  defineOperation({
    path: "/v1/dashboard/passkeys/options",
    callers: ["invited"],
    unverified:
      "A person without a passkey adds the first one. The handler requires a verification for further passkeys.",
    summary: "Get a challenge for a new passkey",
    body: empty,
    answer: passkeyOptions,
    async handle(_body, { context, principal: { session }, request }) {
      // An invited person adds the first passkey without verification. Every further passkey requires it. Otherwise,
      // anyone could add a passkey on an unattended page.
      if (session.passkeys > 0) {
        await requireVerification(context, session);
        await refuseSuspended(context, session.person.bizID);
      }
      return { ...(await new Passkeys(context).registrationOptions(session, request)) };
    },
  }),

  defineOperation({
    path: "/v1/dashboard/passkeys/add",
    callers: ["invited"],
    unverified: "The challenge from passkeys/options, which requires the verification, is used up.",
    summary: "Add a passkey of the person",
    body: strict({ ...registration.shape, name: name.optional() }),
    answer: me,
    async handle({ answer, name }, { context, principal: { session }, author, request }) {
      const passkey = await new Passkeys(context).verifyRegistration(answer, session, request);
      await context.passkeys.add(session, { ...passkey, name }, context.now(), author);
      return describeMe(context, session.person, session.passkeys + 1);
    },
  }),

  defineOperation({
    path: "/v1/dashboard/passkeys/list",
    callers: ["partnerStaff", "operatorStaff"],
    reads: true,
    summary: "List the person's passkeys in the order of creation",
    body: empty,
    answer: strict({
      passkeys: z.array(passkey),
    }),
    async handle(_body, { context, principal: { session } }) {
      const own = await context.passkeys.listOf(session.person.personID);
      return { passkeys: own.map((row) => answerFrom(passkey, { ...row, passkeyID: row.credentialID })) };
    },
  }),

  defineOperation({
    path: "/v1/dashboard/passkeys/rename",
    callers: ["partnerStaff", "operatorStaff"],
    role: "reader",
    summary: "Rename one of the person's passkeys",
    body: strict({ passkey_id: base64url, name }),
    answer: empty,
    async handle({ passkey_id, name }, { context, principal: { session } }) {
      if (!(await context.passkeys.rename(session.person, passkey_id, name))) passkeyUnknown();
      return {};
    },
  }),

  defineOperation({
    path: "/v1/dashboard/passkeys/remove",
    callers: ["partnerStaff", "operatorStaff"],
    role: "reader",
    summary: "Remove one of the person's passkeys",
    body: strict({ passkey_id: base64url }),
    answer: empty,
    async handle({ passkey_id }, { context, principal: { session }, author }) {
      if (!(await context.passkeys.remove(session.person, passkey_id, context.now(), author))) passkeyUnknown();
      return {};
    },
  }),
];

/** Returns a signed-in person for the page. @param passkeys the number of the person's passkeys */
async function describeMe(
  { partners, explorerUrl, blockExplorerUrl, stage, registry }: SignInContext,
  person: Person,
  passkeys: number,
) {
  const { bizID } = person;
  const links = { explorer_url: explorerUrl ?? null, block_explorer_url: blockExplorerUrl ?? null };
  const fields = { person: toPerson(person), ...links, stage, chain_id: registry?.chainId ?? null, passkeys };
  if (bizID === null) return { ...fields, partner: null };
  const [partner, suspended] = await Promise.all([partners.find(bizID), partners.isSuspended(bizID)]);
  return { ...fields, partner: { biz_id: bizID, name: partner?.name ?? "", suspended } };
}

export function toPerson(row: Person) {
  return answerFrom(strict(person), row);
}

/** The error for a passkey that was removed, or for a repeated signature. */
function passkeyNotUsable(): ServiceError {
  const message = "This passkey was removed, or its signature was used before. Try again, or use another passkey.";
  return new ServiceError(403, "PASSKEY_REFUSED", message);
}

function passkeyUnknown(): never {
  throw new ServiceError(404, "PASSKEY_UNKNOWN", "You have no such passkey. Reload the list of passkeys.");
}
