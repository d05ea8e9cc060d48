import type { FastifyRequest } from "fastify";
import { authenticate, checkStaffRequest } from "./authenticate.ts";
import type { ApiContext } from "./context.ts";
import {
  type AnyPrincipal,
  type App,
  type Call,
  type Caller,
  type Operation,
  tokenCallerOf,
} from "./defineOperation.ts";
import { idempotencyHeader, repeatable } from "./database/idempotency.ts";
import { PROBLEM_TYPE, problemSchema } from "./problem.ts";
import { authorOf } from "./requestLog.ts";

const ERROR_DESCRIPTIONS: Record<number, string> = {
  400: "The request is invalid.",
  401: "The token is missing or invalid.",
  403: "The token is of the wrong kind, its partner is suspended, or its user is deactivated.",
  404: "The item does not exist, or belongs to another partner.",
  409: "The id or key is already in use, or the number of stored items has reached its limit.",
  413: "The body is too large.",
  415: "The Content-Type is not application/json.",
  429: "The caller sent too many requests. Wait for the number of seconds in Retry-After.",
  500: "The service failed.",
  503: "The service is temporarily unavailable. Wait for the number of seconds in Retry-After.",
};
const COMMON_ERRORS = [400, 401, 403, 413, 415, 429, 500, 503];

/**
 * Adds an operation's route. Also adds the operation to the API description, unless only the dashboard uses the
 * operation.
 */
export function addOperation(app: App, context: ApiContext, operation: Operation): void {
  const { path, status = 200, bodyLimit, specified = false } = operation;
  const caller = tokenCallerOf(operation);
  const principals = new WeakMap<FastifyRequest, AnyPrincipal>();
  app.route({
    method: "POST",
    url: path,
    ...(bodyLimit !== undefined && { bodyLimit }),
    schema: caller === undefined ? pageSchemaOf(operation) : schemaOf(operation, caller),
    // Web pages of any origin may call the operations for apps, but not operations for partners' servers or the
    // operator.
    config: {
      specified,
      browsers: caller === "public" || caller === "user",
    },
    onRequest: async (request, reply) => {
      principals.set(request, await authenticate(operation, context, request, reply));
    },
    handler: async (request, reply): Promise<unknown> => {
      const principal = principals.get(request);
      await checkStaffRequest(operation, context, principal);
      reply.status(status);
      const key = principal?.kind === "person" ? undefined : request.headers["idempotency-key"];
      const call: Call<Caller, ApiContext> = {
        context,
        principal,
        get author() {
          return authorOf(request);
        },
        repeatable: typeof key === "string" ? repeatable(key, path, request.body) : undefined,
        request,
        reply,
      };
      return operation.handle(request.body, call);
    },
  });
}

/** The schemas of an operation that the API description omits. */
function pageSchemaOf({ body, answer, status = 200 }: Operation) {
  return { hide: true, body, response: { [status]: answer } };
}

function schemaOf(operation: Operation, caller: "public" | "partner" | "user" | "operator") {
  const { path, summary, description, body, answer, status = 200, idempotent = false, errors = [] } = operation;
  const problems = [...COMMON_ERRORS, ...errors]
    .sort((a, b) => a - b)
    .map((error) => {
      const content = { [PROBLEM_TYPE]: { schema: problemSchema } };
      return [error, { description: ERROR_DESCRIPTIONS[error], content }] as const;
    });
  return {
    operationId: path.split("/").slice(2).join("_"),
    summary,
    ...(description !== undefined && { description }),
    tags: [caller],
    security: caller === "public" ? [] : [{ [`${caller}Token`]: [] }],
    body,
    ...(idempotent && { headers: idempotencyHeader }),
    response: {
      [status]: { description: "Success.", content: { "application/json": { schema: answer } } },
      ...Object.fromEntries(problems),
    },
  };
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the specification defines this operation. Undefined for routes that are not operations. */
    specified?: boolean;
  }
}
