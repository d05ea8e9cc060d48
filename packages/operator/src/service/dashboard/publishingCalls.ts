import type { ServiceContext } from "../http/context.ts";
import type { App } from "../http/defineOperation.ts";
import { defineCall } from "./defineCall.ts";
import { calls } from "./schemas.ts";

/** What was and will be published for the partner: its own parts of batches only. Costs are in wei. */
export function publishingCalls(app: App, context: ServiceContext): void {
  const { batches, now } = context;

  defineCall(app, context, {
    path: "publishing/get",
    access: "reader",
    schema: { body: calls.empty, response: calls.publishing },
    async handle(_body, { person: { bizID } }) {
      const [days, pending] = await Promise.all([batches.history(bizID), batches.countPending(bizID, now())]);
      return { days: days.map((day) => ({ ...day, cost: String(day.cost) })), pending };
    },
  });

  defineCall(app, context, {
    path: "publishing/listBatches",
    access: "reader",
    schema: { body: calls.listBatches, response: calls.batches },
    async handle({ limit, after }, { person: { bizID } }) {
      const page = await batches.listOfPartner(bizID, { limit, after });
      return {
        batches: page.batches.map(({ transactionHash, blockNumber, gas, cost, ...batch }) => ({
          ...batch,
          state: blockNumber === null ? ("submitted" as const) : ("published" as const),
          transaction: transactionHash,
          block: blockNumber,
          gas: gas === null ? null : Number(gas),
          cost: cost === null ? null : String(cost),
        })),
        next: page.next,
      };
    },
  });

  defineCall(app, context, {
    path: "publishing/listPending",
    access: "reader",
    schema: { body: calls.listPending, response: calls.pendingKeys },
    async handle({ limit, after }, { person: { bizID } }) {
      const { keys, next } = await batches.listPending(bizID, { limit, after });
      return {
        keys: keys.map(({ userID, publishableAt, ...key }) => ({
          user_id: userID,
          ...key,
          publishable_at: publishableAt,
        })),
        next,
      };
    },
  });
}
