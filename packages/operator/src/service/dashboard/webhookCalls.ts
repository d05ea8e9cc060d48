import type { FastifyRequest } from "fastify";
import type { ServiceContext } from "../http/context.ts";
import type { App } from "../http/defineOperation.ts";
import { authorOf } from "../http/requestLog.ts";
import { webhookSchemas } from "../http/webhookSchemas.ts";
import { webhookActions } from "../routes/webhookActions.ts";
import { defineCall, requireActivePartner } from "./defineCall.ts";
import { calls } from "./schemas.ts";

/** The partner's webhook endpoints. A secret is in the response that creates it only. */
export function webhookCalls(app: App, context: ServiceContext): void {
  const actions = webhookActions(context);
  const callerOf = (bizID: string, request: FastifyRequest) => ({ bizID, author: authorOf(request) });

  defineCall(app, context, {
    path: "webhooks/list",
    access: "reader",
    schema: { body: calls.empty, response: calls.webhooks },
    async handle(_body, { person: { bizID } }) {
      return { enabled: context.webhookEndpoints.enabled, ...(await actions.list(bizID)) };
    },
  });

  defineCall(app, context, {
    path: "webhooks/create",
    access: "administrator",
    verified: true,
    schema: webhookSchemas.create,
    async handle(body, { person: { bizID } }, request) {
      await requireActivePartner(context, bizID);
      return actions.create(body, callerOf(bizID, request));
    },
  });

  defineCall(app, context, {
    path: "webhooks/update",
    access: "administrator",
    verified: true,
    schema: webhookSchemas.update,
    async handle(body, { person: { bizID } }, request) {
      await requireActivePartner(context, bizID);
      return actions.update(body, callerOf(bizID, request));
    },
  });

  defineCall(app, context, {
    path: "webhooks/pause",
    access: "administrator",
    schema: webhookSchemas.pause,
    handle: (body, { person: { bizID } }, request) => actions.pause(body, callerOf(bizID, request)),
  });

  defineCall(app, context, {
    path: "webhooks/resume",
    access: "administrator",
    schema: webhookSchemas.resume,
    handle: (body, { person: { bizID } }, request) => actions.resume(body, callerOf(bizID, request)),
  });

  defineCall(app, context, {
    path: "webhooks/delete",
    access: "administrator",
    schema: webhookSchemas.delete,
    handle: (body, { person: { bizID } }, request) => actions.delete(body, callerOf(bizID, request)),
  });

  defineCall(app, context, {
    path: "webhooks/rotateSecret",
    access: "administrator",
    verified: true,
    schema: webhookSchemas.rotateSecret,
    async handle(body, { person: { bizID } }, request) {
      await requireActivePartner(context, bizID);
      return actions.rotateSecret(body, callerOf(bizID, request));
    },
  });

  defineCall(app, context, {
    path: "webhooks/test",
    access: "administrator",
    schema: webhookSchemas.test,
    handle: (body, { person: { bizID } }) => actions.test(body, bizID),
  });

  defineCall(app, context, {
    path: "webhooks/listDeliveries",
    access: "reader",
    schema: webhookSchemas.listDeliveries,
    handle: (body, { person: { bizID } }) => actions.listDeliveries(body, bizID),
  });

  defineCall(app, context, {
    path: "webhooks/redeliver",
    access: "administrator",
    schema: webhookSchemas.redeliver,
    handle: (body, { person: { bizID } }) => actions.redeliver(body, bizID),
  });

  defineCall(app, context, {
    path: "webhooks/redeliverFailed",
    access: "administrator",
    schema: webhookSchemas.redeliverFailed,
    handle: (body, { person: { bizID } }) => actions.redeliverFailed(body, bizID),
  });
}
