import { answerFrom } from "../api/answerFrom.ts";
import { ServiceError } from "../api/base/errors.ts";
import type { ApiContext } from "../api/context.ts";
import { operationsWith } from "../api/defineOperation.ts";
import type { PartnerStore } from "./partners.ts";
import { amount, bizID, count, limit, name, named, page, strict, text, timestamp } from "../api/fields.ts";

/** The highest user limit of a partner: the largest value of PostgreSQL's `integer`. */
const MAX_USERS = 2 ** 31 - 1;

const userLimit = amount.max(MAX_USERS);
const ofPartner = strict({ biz_id: bizID });
const createdPartner = named("CreatedPartner", "A new partner.", { biz_id: bizID, name, created: timestamp });
const partner = named("PartnerSummary", "A partner with its numbers of users, keys and server tokens.", {
  ...createdPartner.shape,
  suspended: timestamp
    .nullable()
    .meta({ description: "The time of the partner's suspension. Null if the partner is not suspended." }),
  user_limit: userLimit
    .nullable()
    .meta({ description: "The maximum number of the partner's users. Null if there is no limit." }),
  users: count("the partner's users"),
  pending_keys: count("registered public keys that are not on the chain"),
  published_keys: count("public keys on the chain"),
  server_tokens: count("the partner's active server tokens"),
});

export interface PartnerContext extends ApiContext {
  partners: PartnerStore;
}

const defineOperation = operationsWith<PartnerContext>();

export const partnerOperations = [
  defineOperation({
    path: "/v1/admin/partners/create",
    callers: ["operator", "operatorStaff"],
    idempotent: true,
    summary: "Create a partner",
    body: strict({ name }),
    answer: createdPartner,
    status: 201,
    errors: [409],
    async handle({ name }, { context, author, repeatable }) {
      return answerFrom(createdPartner, await context.partners.create(name, context.now(), author, repeatable));
    },
  }),

  defineOperation({
    path: "/v1/admin/partners/get",
    callers: ["operator", "operatorStaff"],
    reads: true,
    summary: "Get a partner with its numbers of users, keys and server tokens",
    body: ofPartner,
    answer: partner,
    errors: [404],
    handle: ({ biz_id }, { context }) => getPartner(context, biz_id),
  }),

  defineOperation({
    path: "/v1/admin/partners/list",
    callers: ["operator", "operatorStaff"],
    reads: true,
    summary: "List or search partners in pages, in the order of creation",
    body: strict({
      search: text("A part of the name in upper or lower case, or the beginning of the biz_id").optional(),
      limit,
      after: bizID.optional(),
    }),
    answer: page("partners", partner, bizID),
    errors: [404],
    async handle(options, { context }) {
      const { partners, next } = (await context.partners.list(options)) ?? partnerUnknown();
      return { partners: partners.map((row) => answerFrom(partner, row)), next };
    },
  }),

  defineOperation({
    path: "/v1/admin/partners/suspend",
    callers: ["operator", "operatorStaff"],
    summary: "Suspend a partner",
    description:
      "Until the partner is resumed, the service rejects all tokens of the partner and its users. The suspension takes effect immediately at every replica. Published keys remain verifiable. Repeating the request has no effect.",
    body: ofPartner,
    answer: partner,
    errors: [404],
    async handle({ biz_id }, { context, author }) {
      await requirePartner(context, biz_id);
      await context.partners.suspend(biz_id, context.now(), author);
      return getPartner(context, biz_id);
    },
  }),

  defineOperation({
    path: "/v1/admin/partners/resume",
    callers: ["operator", "operatorStaff"],
    summary: "End the suspension of a partner",
    description:
      "The service then accepts the tokens of the partner and its users again, except revoked ones. Repeating the request has no effect.",
    body: ofPartner,
    answer: partner,
    errors: [404],
    async handle({ biz_id }, { context, author }) {
      await requirePartner(context, biz_id);
      await context.partners.resume(biz_id, context.now(), author);
      return getPartner(context, biz_id);
    },
  }),

  defineOperation({
    path: "/v1/admin/partners/setUserLimit",
    callers: ["operator", "operatorStaff"],
    summary: "Limit the number of users that a partner may create",
    description:
      "The limit may be below the partner's present number of users. The partner then keeps its users, and cannot create more.",
    body: strict({
      biz_id: bizID,
      user_limit: userLimit
        .optional()
        .meta({ description: "The maximum number of users. Without it, there is no limit." }),
    }),
    answer: partner,
    errors: [404],
    async handle({ biz_id, user_limit = null }, { context, author }) {
      await requirePartner(context, biz_id);
      await context.partners.setUserLimit(biz_id, user_limit, context.now(), author);
      return getPartner(context, biz_id);
    },
  }),
];

export async function requirePartner({ partners }: Pick<PartnerContext, "partners">, bizID: string): Promise<void> {
  if (!(await partners.exists(bizID))) partnerUnknown();
}

async function getPartner({ partners }: Pick<PartnerContext, "partners">, bizID: string) {
  return answerFrom(partner, (await partners.get(bizID)) ?? partnerUnknown());
}

function partnerUnknown(): never {
  const message = "There is no partner with this biz_id. List the partners to find the right biz_id.";
  throw new ServiceError(404, "PARTNER_UNKNOWN", message);
}
