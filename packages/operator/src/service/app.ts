import cors from "@fastify/cors";
import Fastify, { type FastifyBaseLogger, type FastifyReply, type FastifyRequest } from "fastify";
import { serializerCompiler } from "fastify-type-provider-zod";
import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { ServiceError } from "keyroot/errors";
import { parseJson } from "keyroot/input";
import { monitoring } from "./monitoring.ts";
import { describeApi } from "./openapi.ts";
import type { App } from "./operation.ts";
import { problemOf, PROBLEM_TYPE, refusalOf, toServiceError } from "./problem.ts";
import { operatorRoutes } from "./routes/operator.ts";
import { partnerRoutes } from "./routes/partner.ts";
import { publicRoutes } from "./routes/public.ts";
import { userRoutes } from "./routes/user.ts";
import type { Service } from "./service.ts";

/** No request of this API is nearly as large. */
const BODY_BYTES = 16_384;
const JSON_DEPTH = 4;
const REQUEST_TIMEOUT_MS = 30_000;

export interface AppOptions {
  logger?: FastifyBaseLogger;
  /** Proxies whose word on a caller's address is taken: addresses and networks. */
  trustedProxies?: string[];
}

/** The HTTP API as a fastify app, which nobody listens for yet. */
export async function makeApp(service: Service, { logger, trustedProxies = [] }: AppOptions = {}): Promise<App> {
  const app = Fastify({
    ...(logger ? { loggerInstance: logger } : { logger: false }),
    bodyLimit: BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: () => randomUUID(),
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    // What fastify refuses before any hook runs: an address that is none.
    frameworkErrors: (error, request, reply) => {
      addHeaders(request, reply);
      refuse(toServiceError(error), reply);
    },
    // What is not HTTP at all.
    clientErrorHandler: (cause, socket) => {
      if (socket.writable) socket.end(refusalOfBytes(cause));
      else socket.destroy();
    },
  }) as unknown as App;

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => {
    try {
      done(null, parseJson(body as string, JSON_DEPTH));
    } catch (error) {
      done(error as Error);
    }
  });
  app.setValidatorCompiler<z.ZodType>(({ schema }) => (value) => {
    const { success, data, error } = schema.safeParse(value, { reportInput: true });
    return success ? { value: data } : { error: refusalOf(error) };
  });
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler((error, request, reply) => {
    refuse(toServiceError(error), reply);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "";
    const methods = (["GET", "POST"] as const).filter((method) => app.hasRoute({ method, url: path }));
    if (methods.length === 0) {
      refuse(new ServiceError(404, "OPERATION_UNKNOWN", "There is no such operation: see /openapi.json."), reply);
    } else {
      reply.header("Allow", methods.join(", "));
      refuse(new ServiceError(405, "METHOD_NOT_ALLOWED", `This path takes ${methods.join(", ")} only.`), reply);
    }
  });
  app.addHook("onRequest", async (request, reply) => {
    addHeaders(request, reply);
    if (request.method === "POST" && !isJson(request.headers["content-type"]))
      throw new ServiceError(415, "CONTENT_TYPE", "Send the header Content-Type: application/json.");
  });

  // A connection that stays open after the last answer would hold up the end.
  let closing = false;
  app.addHook("preClose", (done) => {
    closing = true;
    done();
  });
  app.addHook("onSend", (_request, reply, _payload, done) => {
    if (closing) reply.header("Connection", "close");
    done();
  });

  await describeApi(app);
  monitoring(app, service);
  await app.register(async (open) => {
    await open.register(cors, {
      origin: "*",
      methods: ["GET", "POST"],
      allowedHeaders: ["Authorization", "Content-Type"],
      exposedHeaders: ["X-Request-Id", "Retry-After"],
      maxAge: 86_400,
    });
    publicRoutes(open, service);
    await open.register((scope, _options, done) => {
      userRoutes(scope, service);
      done();
    });
  });
  await app.register((scope, _options, done) => {
    partnerRoutes(scope, service);
    done();
  });
  await app.register((scope, _options, done) => {
    operatorRoutes(scope, service);
    done();
  });
  return app;
}

/** `application/json`, perhaps with `charset=utf-8`, the only one that JSON has (RFC 8259, section 8.1). */
function isJson(type: string | undefined): boolean {
  return /^application\/json(?: *; *charset="?utf-8"?)? *$/i.test(type ?? "");
}

/** The headers of every answer. */
function addHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header("X-Request-Id", request.id);
  reply.header("X-Content-Type-Options", "nosniff");
  reply.header("Cache-Control", "no-store");
}

/** A refusal as it goes over the wire, where there is no request to answer. */
function refusalOfBytes(cause: Error): string {
  const id = randomUUID();
  const body = JSON.stringify(problemOf(toServiceError(Object.assign(cause, { statusCode: 400 })), id));
  const headers = [
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${id}`,
  ];
  return ["HTTP/1.1 400 Bad Request", ...headers, "Connection: close", "", body].join("\r\n");
}

function refuse(error: ServiceError, reply: FastifyReply): void {
  const { log, id } = reply.request;
  const { status, code, retryAfter } = error;
  if (status >= 500) log.error({ err: error, code }, "request failed");
  else log.info({ code }, "request refused");
  if (status === 401) reply.header("WWW-Authenticate", challengeOf(code));
  if (retryAfter !== undefined) reply.header("Retry-After", retryAfter);
  void reply.status(status).type(PROBLEM_TYPE).serializer(JSON.stringify).send(problemOf(error, id));
}

/** RFC 6750, section 3. */
function challengeOf(code: string): string {
  return code === "ACCESS_TOKEN_MISSING" ? "Bearer" : 'Bearer error="invalid_token"';
}
