import cors from "@fastify/cors";
import Fastify, { type FastifyBaseLogger, type FastifyReply, type FastifyRequest } from "fastify";
import { serializerCompiler } from "fastify-type-provider-zod";
import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { ServiceError } from "keyroot/errors";
import { parseJson } from "keyroot/input";
import type { ServiceContext } from "./http/context.ts";
import type { App } from "./http/defineOperation.ts";
import { describeApi, OPERATOR_API, PARTNER_API } from "./http/describeApi.ts";
import { contentTypeError, PROBLEM_TYPE, toProblem, toServiceError, toValidationError } from "./http/problem.ts";
import { MAX_BODY_BYTES } from "./http/schemas.ts";
import { monitoringRoutes } from "./routes/monitoring.ts";
import { operatorRoutes } from "./routes/operator.ts";
import { partnerRoutes } from "./routes/partner.ts";
import { publicRoutes } from "./routes/public.ts";
import { userRoutes } from "./routes/user.ts";

const MAX_JSON_DEPTH = 4;
const REQUEST_TIMEOUT_MS = 30_000;

export interface AppOptions {
  logger?: FastifyBaseLogger;
  /** IP addresses and networks of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies?: string[];
}

/** Creates the HTTP API as a fastify app that does not listen yet. */
export async function makeApp(context: ServiceContext, { logger, trustedProxies = [] }: AppOptions = {}): Promise<App> {
  const app = Fastify({
    ...(logger ? { loggerInstance: logger } : { logger: false }),
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: () => randomUUID(),
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    // Malformed URLs, which fastify rejects before it runs any hook.
    frameworkErrors: (error, request, reply) => {
      addHeaders(request, reply);
      sendProblem(toServiceError(error), reply);
    },
    // Bytes that are not an HTTP request.
    clientErrorHandler: (cause, socket) => {
      if (socket.writable) socket.end(rawProblem(cause));
      else socket.destroy();
    },
  }) as unknown as App;

  parseAndValidate(app);
  app.addHook("onRequest", async (request, reply) => {
    addHeaders(request, reply);
    if (request.method === "POST" && !isJson(request.headers["content-type"])) throw contentTypeError();
  });
  app.setErrorHandler((error, _request, reply) => {
    sendProblem(toServiceError(error), reply);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "";
    const methods = (["GET", "POST"] as const).filter((method) => app.hasRoute({ method, url: path }));
    if (methods.length === 0) {
      const message = `There is no such operation: see ${PARTNER_API.documentPath}.`;
      sendProblem(new ServiceError(404, "OPERATION_UNKNOWN", message), reply);
    } else {
      reply.header("Allow", methods.join(", "));
      sendProblem(new ServiceError(405, "METHOD_NOT_ALLOWED", `Use ${methods.join(" or ")}.`), reply);
    }
  });
  closeConnectionsAtEnd(app);

  monitoringRoutes(app, context);
  await app.register(async (scope) => {
    await describeApi(scope, PARTNER_API);
    await scope.register(async (browsers) => {
      await browsers.register(cors, {
        origin: "*",
        methods: ["GET", "POST"],
        allowedHeaders: ["Authorization", "Content-Type"],
        exposedHeaders: ["X-Request-Id", "Retry-After"],
        maxAge: 86_400,
      });
      publicRoutes(browsers, context);
      await registerRoutes(browsers, userRoutes, context);
    });
    await registerRoutes(scope, partnerRoutes, context);
  });
  await app.register(async (scope) => {
    await describeApi(scope, OPERATOR_API);
    await registerRoutes(scope, operatorRoutes, context);
  });
  return app;
}

/** Adds routes in a scope of their own, so that their hooks apply to them only. */
async function registerRoutes(
  app: App,
  routes: (scope: App, context: ServiceContext) => void,
  context: ServiceContext,
): Promise<void> {
  await app.register((scope, _options, done) => {
    routes(scope, context);
    done();
  });
}

/** Bodies are parsed by the strict JSON parser, validated by zod, and responses are serialized by their schema. */
function parseAndValidate(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => {
    try {
      done(null, parseJson(body as string, MAX_JSON_DEPTH));
    } catch (error) {
      done(error as Error);
    }
  });
  app.setValidatorCompiler<z.ZodType>(({ schema }) => (value) => {
    const { success, data, error } = schema.safeParse(value, { reportInput: true });
    return success ? { value: data } : { error: toValidationError(error) };
  });
  app.setSerializerCompiler(serializerCompiler);
}

/** Connections that stay open after their last response would delay `close`. */
function closeConnectionsAtEnd(app: App): void {
  let closing = false;
  app.addHook("preClose", (done) => {
    closing = true;
    done();
  });
  app.addHook("onSend", (_request, reply, _payload, done) => {
    if (closing) reply.header("Connection", "close");
    done();
  });
}

/** `application/json`, optionally with `charset=utf-8`, JSON's only encoding (RFC 8259, section 8.1). */
function isJson(type: string | undefined): boolean {
  return /^application\/json(?: *; *charset="?utf-8"?)? *$/i.test(type ?? "");
}

/** Sets the headers that every response has. */
function addHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header("X-Request-Id", request.id);
  reply.header("X-Content-Type-Options", "nosniff");
  reply.header("Cache-Control", "no-store");
}

/** A complete error response, for sockets without a request to reply to. */
function rawProblem(cause: Error): string {
  const id = randomUUID();
  const body = JSON.stringify(toProblem(toServiceError(Object.assign(cause, { statusCode: 400 })), id));
  const headers = [
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${id}`,
  ];
  return ["HTTP/1.1 400 Bad Request", ...headers, "Connection: close", "", body].join("\r\n");
}

function sendProblem(error: ServiceError, reply: FastifyReply): void {
  const { log, id } = reply.request;
  const { status, code, retryAfter } = error;
  if (status >= 500) log.error({ err: error, code }, "request failed");
  else log.info({ code }, "request rejected");
  if (status === 401) reply.header("WWW-Authenticate", challengeFor(code));
  if (retryAfter !== undefined) reply.header("Retry-After", retryAfter);
  void reply.status(status).type(PROBLEM_TYPE).serializer(JSON.stringify).send(toProblem(error, id));
}

/** The challenge of a 401 response (RFC 6750, section 3). */
function challengeFor(code: string): string {
  return code === "ACCESS_TOKEN_MISSING" ? "Bearer" : 'Bearer error="invalid_token"';
}
