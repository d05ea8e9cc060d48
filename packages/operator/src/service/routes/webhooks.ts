import type { FastifyRequest } from "fastify";
import type { ServiceContext } from "../http/context.ts";
import { type App, defineOperation, idempotencyKeyOf } from "../http/defineOperation.ts";
import { authorOf } from "../http/requestLog.ts";
import { webhookSchemas } from "../http/webhookSchemas.ts";
import { webhookActions } from "./webhookActions.ts";

/** A partner's operations on its webhook endpoints. `app` requires a partner's access token. */
export function webhookRoutes(
  app: App,
  context: ServiceContext,
  partnerOf: (request: FastifyRequest) => { bizID: string },
): void {
  const actions = webhookActions(context);
  const callerOf = (request: FastifyRequest) => ({
    bizID: partnerOf(request).bizID,
    author: authorOf(request),
  });
  const repeatableCallerOf = (request: FastifyRequest) => ({
    ...callerOf(request),
    idempotencyKey: idempotencyKeyOf(request),
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/create",
    summary: "Add an endpoint that receives events",
    description: "The endpoint receives the events from now on. At most 10 endpoints.",
    tag: "partner",
    idempotent: true,
    errors: [409],
    schema: webhookSchemas.create,
    handle: (body, request) => actions.create(body, repeatableCallerOf(request)),
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/list",
    summary: "List the partner's webhook endpoints in the order of creation, without their secrets",
    tag: "partner",
    schema: webhookSchemas.list,
    handle: (_body, request) => actions.list(partnerOf(request).bizID),
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/update",
    summary: "Change where a webhook endpoint receives events, or which types",
    description: "Applies to deliveries that wait, too. Repeating the request has no effect.",
    tag: "partner",
    errors: [404],
    schema: webhookSchemas.update,
    handle: (body, request) => actions.update(body, callerOf(request)),
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/pause",
    summary: "Pause a webhook endpoint: its deliveries wait",
    description: "Repeating the request has no effect.",
    tag: "partner",
    errors: [404],
    schema: webhookSchemas.pause,
    handle: (body, request) => actions.pause(body, callerOf(request)),
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/resume",
    summary: "Resume a webhook endpoint: its deliveries are sent",
    description: "Repeating the request has no effect.",
    tag: "partner",
    errors: [404],
    schema: webhookSchemas.resume,
    handle: (body, request) => actions.resume(body, callerOf(request)),
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/delete",
    summary: "Delete a webhook endpoint, and all deliveries to it",
    description: "Repeating the request has no effect.",
    tag: "partner",
    schema: webhookSchemas.delete,
    handle: (body, request) => actions.delete(body, callerOf(request)),
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/rotateSecret",
    summary: "Replace the secret of a webhook endpoint",
    description: "Deliveries are signed with the new and the earlier secret for 24 hours, then with the new one only.",
    tag: "partner",
    idempotent: true,
    errors: [404, 409],
    schema: webhookSchemas.rotateSecret,
    handle: (body, request) => actions.rotateSecret(body, repeatableCallerOf(request)),
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/test",
    summary: "Send an event of the type webhook.test to an endpoint, and return its response",
    description: "Sends once, also to a paused endpoint.",
    tag: "partner",
    errors: [404],
    schema: webhookSchemas.test,
    handle: (body, request) => actions.test(body, partnerOf(request).bizID),
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/listDeliveries",
    summary: "List the deliveries to an endpoint in pages, the newest first",
    tag: "partner",
    errors: [404],
    schema: webhookSchemas.listDeliveries,
    handle: (body, request) => actions.listDeliveries(body, partnerOf(request).bizID),
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/redeliver",
    summary: "Deliver one event to an endpoint again",
    description: "The event keeps its id. It must be one that the endpoint was to receive, at most 30 days ago.",
    tag: "partner",
    errors: [404],
    schema: webhookSchemas.redeliver,
    handle: (body, request) => actions.redeliver(body, partnerOf(request).bizID),
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/redeliverFailed",
    summary: "Deliver all events again whose delivery to an endpoint failed",
    tag: "partner",
    errors: [404],
    schema: webhookSchemas.redeliverFailed,
    handle: (body, request) => actions.redeliverFailed(body, partnerOf(request).bizID),
  });
}
