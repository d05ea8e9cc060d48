import { ServiceError } from "keyroot/errors";
import type { ServiceContext } from "../http/context.ts";
import type { App } from "../http/defineOperation.ts";
import { invitationUrl } from "../http/origin.ts";
import { authorOf } from "../http/requestLog.ts";
import { toInvitationResponse, toPersonResponse } from "../routes/responses.ts";
import { defineCall } from "./defineCall.ts";
import { calls } from "./schemas.ts";

/** The staff of the partner, or of the operator. */
export function companyCalls(app: App, context: ServiceContext): void {
  const { staff, now } = context;

  defineCall(app, context, {
    path: "staff/list",
    access: "reader",
    staff: "both",
    schema: { body: calls.listStaff, response: calls.staff },
    async handle({ limit, after }, { person: { bizID } }) {
      const people = await staff.list(bizID, after, limit);
      return {
        people: people.map((person) => ({
          ...toPersonResponse(person),
          created: person.created,
          last_sign_in: person.lastSignIn,
          invitation_expires: person.invitationExpires,
          passkeys: person.passkeys,
        })),
        next: people.length === limit ? (people.at(-1)?.name ?? null) : null,
      };
    },
  });

  defineCall(app, context, {
    path: "staff/invite",
    access: "administrator",
    staff: "both",
    verified: true,
    schema: { body: calls.invite, response: calls.invitation },
    async handle({ name, role }, { person: { bizID } }, request) {
      const invitation = await staff.add(bizID, name, role, now(), authorOf(request));
      return toInvitationResponse(invitation, invitationUrl(context, request, invitation));
    },
  });

  defineCall(app, context, {
    path: "staff/inviteAgain",
    access: "administrator",
    staff: "both",
    verified: true,
    schema: { body: calls.personID, response: calls.invitation },
    async handle({ person_id }, { person: { bizID, personID } }, request) {
      if (person_id === personID)
        throw new ServiceError(409, "LAST_PASSKEY", "You are signed in: add another passkey instead.");
      const invitation = (await staff.inviteAgain(bizID, person_id, now(), authorOf(request))) ?? unknown();
      return toInvitationResponse(invitation, invitationUrl(context, request, invitation));
    },
  });

  defineCall(app, context, {
    path: "staff/setRole",
    access: "administrator",
    staff: "both",
    verified: true,
    schema: { body: calls.setRole, response: calls.person },
    async handle({ person_id, role }, { person: { bizID } }, request) {
      const changed = await staff.setRole(bizID, person_id, role, now(), authorOf(request));
      return toPersonResponse(changed ?? unknown());
    },
  });

  defineCall(app, context, {
    path: "staff/remove",
    access: "administrator",
    staff: "both",
    schema: { body: calls.personID, response: calls.empty },
    async handle({ person_id }, { person: { bizID } }, request) {
      if ((await staff.remove(bizID, person_id, now(), authorOf(request))) === undefined) unknown();
      return {};
    },
  });
}

/** @throws ServiceError PERSON_UNKNOWN */
function unknown(): never {
  throw new ServiceError(404, "PERSON_UNKNOWN", "There is no such person.");
}
