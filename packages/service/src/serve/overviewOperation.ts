import { z } from "zod";
import { operationsWith } from "../api/defineOperation.ts";
import { amount, count, empty, strict, timestamp, wei } from "../api/fields.ts";
import { keyTypeName } from "../keys/fields.ts";
import { countUsers } from "../partners/partners.ts";
import type { PublisherReport } from "../publishing/publisherReport.ts";
import type { ServiceContext } from "./context.ts";

/** Number of recent deliveries that determine whether an endpoint is failing. */
const NEWEST_DELIVERIES = 25;

/** The dashboard's first page. It needs all subjects, so it belongs to the roof. */
export const overviewOperation = operationsWith<ServiceContext>()({
  path: "/v1/dashboard/overview/get",
  callers: ["partnerStaff"],
  reads: true,
  summary: "Get the partner's numbers, its failing webhook endpoints, and the state of publishing",
  body: empty,
  answer: strict({
    users: count("users"),
    published: count("users with a published key"),
    pending: strict({ waiting: amount, undecided: amount, ready: amount }),
    cost: wei.meta({ description: "The partner's share of the cost so far, in wei." }),
    unpriced: count("published users whose cost was not recorded"),
    failing_webhooks: z.array(z.uuid()).meta({
      description: "Webhook endpoints with a failed delivery among their newest deliveries.",
    }),
    last_published: timestamp.nullable().meta({ description: "The last day (UTC) with a published key." }),
    chain: strict({
      chain_id: amount,
      contract: z.string(),
      key_type: keyTypeName,
      block: amount.nullable().meta({ description: "Null if the chain's endpoint does not respond." }),
      stores_answer: z.boolean().meta({ description: "Whether all file stores respond." }),
    })
      .nullable()
      .meta({
        description:
          "The state of publishing, as the publisher last reported it. Null if the service does not publish.",
      }),
  }),
  async handle(_body, { context, principal: { bizID } }) {
    const { databases, batches, publisher, now } = context;
    const [users, days, pending, failing, status] = await Promise.all([
      countUsers(databases.home, bizID),
      batches.history(bizID),
      batches.countPending(bizID, now()),
      failingWebhooks(context, bizID),
      publisher?.report(),
    ]);
    return {
      users,
      published: days.reduce((sum, day) => sum + day.users, 0),
      pending,
      cost: String(days.reduce((sum, day) => sum + day.cost, 0n)),
      unpriced: days.reduce((sum, day) => sum + day.unpriced, 0),
      failing_webhooks: failing,
      last_published: days.at(-1)?.day ?? null,
      chain: status === undefined ? null : { ...toChain(status), key_type: context.keyType.name },
    };
  },
});

async function failingWebhooks({ webhookEndpoints, webhookDeliveries }: ServiceContext, bizID: string) {
  const endpoints = await webhookEndpoints.list(bizID);
  const failing = await Promise.all(
    endpoints.map(async ({ endpointID }) => {
      const newest = (await webhookDeliveries.list(endpointID, { limit: NEWEST_DELIVERIES })) ?? [];
      return newest.some(({ state, error }) => state === "failed" || (state === "pending" && error !== null));
    }),
  );
  return endpoints.flatMap(({ endpointID }, i) => (failing[i] === true ? [endpointID] : []));
}

/** The state of publishing, without the values that only the operator may see. */
function toChain({ chain: { chain_id, contract, error, state }, stores }: PublisherReport) {
  const stores_answer = error === null && stores.every((store) => store.error === null);
  return { chain_id, contract, block: state?.block ?? null, stores_answer };
}
