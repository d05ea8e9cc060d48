import { answerFrom } from "../api/answerFrom.ts";
import { z } from "zod";
import { ServiceError } from "../api/base/errors.ts";
import { type Call, type Caller, operationsWith } from "../api/defineOperation.ts";
import { amount, bizID, empty, limit, name, named, page, strict, timestamp } from "../api/fields.ts";
import { requirePartner } from "../partners/operations.ts";
import { type ApiContext, baseUrlOf } from "../api/context.ts";
import type { PartnerStore } from "../partners/partners.ts";
import type { Invitation, InvitationStore } from "./invitations.ts";
import { person, role, toPerson } from "./signInOperations.ts";
import type { StaffStore } from "./staff.ts";

const ofPerson = strict({ person_id: person.person_id });
const staffMember = strict({
  ...person,
  created: timestamp,
  last_sign_in: timestamp.nullable(),
  invitation_expires: timestamp.nullable(),
  passkeys: amount,
});
const invitation = named("StaffInvitation", "An invitation to the dashboard.", {
  ...person,
  url: z
    .string()
    .meta({ description: "The link for the person. It works once, and the service returns it only once." }),
  expires: timestamp.meta({
    description: "The time at which the link expires, in milliseconds since 1970-01-01, UTC.",
  }),
});
export interface StaffContext extends ApiContext {
  partners: PartnerStore;
  staff: StaffStore;
  invitations: InvitationStore;
}

const defineOperation = operationsWith<StaffContext>();

export const staffOperations = [
  defineOperation({
    path: "/v1/admin/staff/invite",
    callers: ["operator", "operatorStaff"],
    summary: "Invite a person to a partner's dashboard",
    description: "If a person with this name exists, the person's earlier link, passkeys and sessions become invalid.",
    body: strict({ biz_id: bizID, name, role: role.default("administrator") }),
    answer: invitation,
    status: 201,
    errors: [404, 409],
    async handle({ biz_id, name, role }, call) {
      const { context, author } = call;
      await requirePartner(context, biz_id);
      return toInvitation(await context.invitations.byName(biz_id, name, role, context.now(), author), call);
    },
  }),

  defineOperation({
    path: "/v1/admin/staff/remove",
    callers: ["operator", "operatorStaff"],
    summary: "Remove a person from a partner's dashboard, with all passkeys and sessions",
    body: strict({ biz_id: bizID, name }),
    answer: empty,
    errors: [404],
    async handle({ biz_id, name }, { context, author }) {
      if ((await context.staff.removeByName(biz_id, name, context.now(), author)) === undefined) personUnknown();
      return {};
    },
  }),

  defineOperation({
    path: "/v1/admin/operators/invite",
    callers: ["operator"],
    summary: "Invite a person to the operator's console",
    description: "If a person with this name exists, the person's earlier link, passkeys and sessions become invalid.",
    body: strict({ name, role: role.default("administrator") }),
    answer: invitation,
    status: 201,
    errors: [409],
    async handle({ name, role }, call) {
      const { context, author } = call;
      return toInvitation(await context.invitations.byName(null, name, role, context.now(), author), call);
    },
  }),

  defineOperation({
    path: "/v1/dashboard/staff/list",
    callers: ["partnerStaff", "operatorStaff"],
    reads: true,
    summary: "List the people of the person's company in pages, in the order of their names",
    body: strict({ limit, after: name.optional() }),
    answer: page("people", staffMember, name),
    async handle({ limit, after }, { context, principal: { bizID } }) {
      const people = await context.staff.list(bizID, after, limit);
      return {
        people: people.map((row) => answerFrom(staffMember, row)),
        next: people.length === limit ? (people.at(-1)?.name ?? null) : null,
      };
    },
  }),

  defineOperation({
    path: "/v1/dashboard/staff/invite",
    callers: ["partnerStaff", "operatorStaff"],
    summary: "Invite a person to the person's company",
    body: strict({ name, role }),
    answer: invitation,
    async handle({ name, role }, call) {
      const { context, principal, author } = call;
      return toInvitation(await context.invitations.add(principal.bizID, name, role, context.now(), author), call);
    },
  }),

  defineOperation({
    path: "/v1/dashboard/staff/inviteAgain",
    callers: ["partnerStaff", "operatorStaff"],
    summary: "Invite a person again, and end the person's earlier link, passkeys and sessions",
    body: ofPerson,
    answer: invitation,
    async handle({ person_id }, call) {
      const { context, principal, author } = call;
      if (person_id === principal.session.person.personID)
        throw new ServiceError(409, "LAST_PASSKEY", "You cannot invite yourself again. Add another passkey instead.");
      const invited = await context.invitations.again(principal.bizID, person_id, context.now(), author);
      return toInvitation(invited ?? personUnknown(), call);
    },
  }),

  defineOperation({
    path: "/v1/dashboard/staff/setRole",
    callers: ["partnerStaff", "operatorStaff"],
    summary: "Change the role of a person",
    body: strict({ person_id: person.person_id, role }),
    answer: strict(person),
    async handle({ person_id, role }, { context, principal: { bizID }, author }) {
      const changed = await context.staff.setRole(bizID, person_id, role, context.now(), author);
      return toPerson(changed ?? personUnknown());
    },
  }),

  defineOperation({
    path: "/v1/dashboard/staff/remove",
    callers: ["partnerStaff", "operatorStaff"],
    summary: "Remove a person from the company",
    body: ofPerson,
    answer: empty,
    async handle({ person_id }, { context, principal: { bizID }, author }) {
      if ((await context.staff.remove(bizID, person_id, context.now(), author)) === undefined) personUnknown();
      return {};
    },
  }),
];

function personUnknown(): never {
  throw new ServiceError(404, "PERSON_UNKNOWN", "The company has no such person. Check the name or the id.");
}

/**
 * Converts an invitation to a response. The link contains the token in its fragment, which browsers do not send
 * to servers.
 */
function toInvitation(
  invited: Invitation,
  { context, request }: Pick<Call<Caller, StaffContext>, "context" | "request">,
) {
  const url = `${baseUrlOf(context, request)}/dashboard/#/invitation/${invited.token}`;
  return answerFrom(invitation, { ...invited, url });
}
