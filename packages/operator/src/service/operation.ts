import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { PROBLEM_TYPE } from "./problem.ts";
import { problemSchema } from "./schemas.ts";

/** The app as routes see it. */
export type App = FastifyInstance;

/** An operation of the API: what it takes, what it answers, what it is for. */
interface Operation<Body extends z.ZodType, Answer extends z.ZodType> {
  path: `/v1/${string}`;
  summary: string;
  description?: string;
  tag: "partner" | "user" | "operator" | "public";
  schema: { body: Body; answer: Answer };
  /** The status of success; 200 by default. */
  status?: 200 | 201;
  /** Whether the specification shows this operation. */
  specified?: boolean;
  /** Whether a request may carry an Idempotency-Key. */
  idempotent?: boolean;
  /** The statuses with which it may refuse, beside those that every operation has. */
  refusals?: readonly number[];
  handle: (body: z.output<Body>, request: FastifyRequest, reply: FastifyReply) => Promise<z.output<Answer>>;
}

/** The header of requests that make a token (draft-ietf-httpapi-idempotency-key-header). */
const idempotencyHeader = z.object({
  "idempotency-key": z
    .string()
    .regex(/^[\x21-\x7e]{32,128}$/)
    .optional()
    .meta({
      description:
        "A random value, such as a UUID, sent again with a repetition: for a day the same request with the same key is answered with the same token.",
    }),
});

const REASONS: Record<number, string> = {
  400: "The request is not as it should be.",
  401: "No token, or one that is not good.",
  403: "A token of the wrong kind.",
  404: "There is no such thing, or it is another partner's.",
  409: "Something else stands there.",
  413: "The body is too large.",
  415: "The body is not declared as JSON.",
  429: "Too many requests; Retry-After says how long to wait.",
  500: "A defect of the service.",
  503: "The service is not ready; Retry-After says how long to wait.",
};

/** Adds an operation to the API and to its description. */
export function operation<Body extends z.ZodType, Answer extends z.ZodType>(
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
    refusals = [],
    handle,
  }: Operation<Body, Answer>,
): void {
  const security = tag === "public" ? [] : [{ [`${tag}Token`]: [] }];
  const always = [400, ...(tag === "public" ? [401] : [401, 403]), 413, 415, 429, 500, 503];
  const refused = [...always, ...refusals].sort((a, b) => a - b);
  const problems = Object.fromEntries(
    refused.map((code) => [
      code,
      { description: REASONS[code], content: { [PROBLEM_TYPE]: { schema: problemSchema } } },
    ]),
  );
  app.withTypeProvider<ZodTypeProvider>().route({
    method: "POST",
    url: path,
    schema: {
      operationId: operationIDOf(path),
      summary,
      ...(description !== undefined && { description }),
      tags: [tag],
      security,
      body: schema.body,
      ...(idempotent && { headers: idempotencyHeader }),
      response: { [status]: schema.answer.describe("Done."), ...problems },
    },
    config: { specified },
    handler: async (request, reply) => {
      reply.status(status);
      return handle(request.body as z.output<Body>, request, reply);
    },
  });
}

/** `/v1/authdBizSrv/users/create` is `authdBizSrv_users_create`. */
function operationIDOf(path: string): string {
  return path.split("/").slice(2).join("_");
}

/** The key of a request that may be repeated, if it has one. */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  return headers["idempotency-key"] as string | undefined;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the specification shows this operation; undefined for what is no operation. */
    specified?: boolean;
  }
}
