import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { PROBLEM_TYPE } from "./problem.ts";
import { problemSchema } from "./schemas.ts";

/** The fastify app, as routes use it. */
export type App = FastifyInstance;

/** An operation of the API. Its OpenAPI description is generated from it. */
interface Operation<Body extends z.ZodType, Result extends z.ZodType> {
  path: `/v1/${string}`;
  summary: string;
  description?: string;
  /** Whose token the operation requires; `public` requires none. */
  tag: "public" | "partner" | "user" | "operator";
  schema: { body: Body; response: Result };
  /** The status of success. Default 200. */
  status?: 200 | 201;
  /** Whether the specification defines this operation. Default false: it is an extension. */
  specified?: boolean;
  /** Whether requests may have an Idempotency-Key. Default false. */
  idempotent?: boolean;
  /** The maximum size of the body in bytes. Default `MAX_BODY_BYTES`. */
  bodyLimit?: number;
  /** Error statuses beside those that every operation has. */
  errors?: readonly (404 | 409)[];
  handle: (body: z.output<Body>, request: FastifyRequest, reply: FastifyReply) => Promise<z.output<Result>>;
}

/** The header of repeatable requests that create something (draft-ietf-httpapi-idempotency-key-header). */
const idempotencyHeader = z.object({
  "idempotency-key": z
    .string()
    .regex(/^[\x21-\x7e]{32,128}$/)
    .optional()
    .meta({
      description:
        "A random value, such as a UUID. Within 24 hours, repeating the request with the same key returns the same result.",
    }),
});

const ERROR_DESCRIPTIONS: Record<number, string> = {
  400: "The request is invalid.",
  401: "The token is missing or not valid.",
  403: "The token is of the wrong kind, its partner is suspended, or its user is deactivated.",
  404: "Not found, or owned by another partner.",
  409: "The id or key is already in use, or a limit of stored items is reached.",
  413: "The body is too large.",
  415: "The Content-Type is not application/json.",
  429: "Too many requests. Wait for the seconds in Retry-After.",
  500: "The service failed.",
  503: "The service is temporarily unavailable. Wait for the seconds in Retry-After.",
};

/** Adds an operation to the API and to its description. */
export function defineOperation<Body extends z.ZodType, Result extends z.ZodType>(
  app: App,
  {
    path,
    summary,
    description,
    tag,
    schema,
    status = 200,
    specified = false,
    idempotent = false,
    bodyLimit,
    errors = [],
    handle,
  }: Operation<Body, Result>,
): void {
  const security = tag === "public" ? [] : [{ [`${tag}Token`]: [] }];
  const commonErrors = [400, 401, 403, 413, 415, 429, 500, 503];
  const errorStatuses = [...commonErrors, ...errors].sort((a, b) => a - b);
  const problems = Object.fromEntries(
    errorStatuses.map((error) => [
      error,
      { description: ERROR_DESCRIPTIONS[error], content: { [PROBLEM_TYPE]: { schema: problemSchema } } },
    ]),
  );
  app.withTypeProvider<ZodTypeProvider>().route({
    method: "POST",
    url: path,
    ...(bodyLimit !== undefined && { bodyLimit }),
    schema: {
      operationId: operationIDOf(path),
      summary,
      ...(description !== undefined && { description }),
      tags: [tag],
      security,
      body: schema.body,
      ...(idempotent && { headers: idempotencyHeader }),
      response: { [status]: schema.response.describe("Success."), ...problems },
    },
    // Apps call these from pages. A partner's server and the operator do not.
    config: {
      specified,
      browsers: tag === "public" || tag === "user",
      accessToken: tag === "partner" || tag === "user",
    },
    handler: async (request, reply) => {
      reply.status(status);
      return handle(request.body as z.output<Body>, request, reply);
    },
  });
}

/** `/v1/authdBizSrv/users/create` becomes `authdBizSrv_users_create`. */
function operationIDOf(path: string): string {
  return path.split("/").slice(2).join("_");
}

/** The request's Idempotency-Key, if it has one. */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  return headers["idempotency-key"] as string | undefined;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the specification defines this operation; undefined for routes that are not operations. */
    specified?: boolean;
    /** Whether the route requires an access token. Default false. */
    accessToken?: boolean;
  }
}
