import Fastify, { type FastifyBaseLogger, type FastifyReply, type FastifyRequest } from "fastify";
import { randomUUID } from "node:crypto";
import { ServiceError } from "./base/errors.ts";
import { addressOf } from "./limits/addressOf.ts";
import type { RateLimits } from "./limits/rateLimits.ts";
import { allowBrowsers } from "./cors.ts";
import type { App } from "./defineOperation.ts";
import { contentTypeError, PROBLEM_TYPE, toProblem, toServiceError } from "./problem.ts";
import { decorateForLog, RequestLog } from "./requestLog.ts";
import { MAX_BODY_BYTES } from "./fields.ts";

const REQUEST_TIMEOUT_MS = 30_000;

export interface BaseAppOptions {
  logger?: FastifyBaseLogger | undefined;
  /** IP addresses and networks of proxies. The app ignores the `X-Forwarded-For` header of other senders. */
  trustedProxies?: string[];
  /** Whether the audit log records callers' IP addresses. Default: true. */
  recordAddresses?: boolean;
  /** Counts requests by address. The app counts each request before any other work for it. */
  limits: Pick<RateLimits, "countAddress"> & Partial<Pick<RateLimits, "countRefused" | "countMalformed">>;
  /** A sentence that ends the error message for an unknown path. */
  seeAlso?: string;
}

/**
 * Creates a fastify app without routes. It counts requests by address, logs one line per request, and responds to each
 * error with a problem document (RFC 9457).
 */
export function makeBaseApp({
  logger,
  trustedProxies = [],
  recordAddresses = true,
  limits,
  seeAlso = "",
}: BaseAppOptions): App {
  /** Returns the error to send: RATE_LIMITED if too many requests from the address were rejected. */
  const countedError = (error: ServiceError, request: FastifyRequest, reply: FastifyReply): ServiceError => {
    // Fastify adds no decorators to a request with a malformed URL, so its `actor` is undefined.
    if (request.actor || error.status >= 500 || error.status === 429) return error;
    try {
      limits.countRefused?.(request, reply);
      return error;
    } catch (overLimit) {
      return toServiceError(overLimit);
    }
  };
  const sendProblem = (reason: ServiceError, request: FastifyRequest, reply: FastifyReply): void => {
    const error = countedError(reason, request, reply);
    const { status, code, retryAfter } = error;
    request.errorCode = code;
    if (status >= 500) request.log.error({ err: error, code, actor: request.actor }, "request failed");
    if (status === 401) reply.header("WWW-Authenticate", challengeFor(code));
    if (retryAfter !== undefined) reply.header("Retry-After", retryAfter);
    const problem = toProblem(error, request.id);
    void reply.status(status).type(PROBLEM_TYPE).serializer(JSON.stringify).send(problem);
  };
  const admit = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.header("X-Request-Id", request.id);
    reply.header("X-Content-Type-Options", "nosniff");
    reply.header("Cache-Control", "no-store");
    allowBrowsers(request, reply);
    limits.countAddress(request, reply);
  };

  const app = Fastify({
    ...(logger ? { loggerInstance: logger } : { logger: false }),
    logController: new RequestLog(),
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // The app still answers requests on open connections while the service stops.
    return503OnClosing: false,
    genReqId: () => randomUUID(),
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    // Fastify rejects malformed URLs before it runs hooks and before it reads forwarded addresses.
    frameworkErrors: (error, request, reply) => {
      try {
        admit(request, reply);
        sendProblem(toServiceError(error), request, reply);
      } catch (overLimit) {
        sendProblem(toServiceError(overLimit), request, reply);
      }
    },
    // Called if a connection sends bytes that are not an HTTP request.
    clientErrorHandler: (cause, socket) => {
      const isOverLimit = limits.countMalformed?.(addressOf({ ip: "", socket }));
      if (socket.writable && isOverLimit !== true) socket.end(rawProblem(cause));
      else socket.destroy();
    },
    // Node's own response to a request without a `Host` header is not a problem document. Therefore the `onRequest`
    // hook rejects these requests instead.
    http: { requireHostHeader: false },
  }) as unknown as App;

  // Node's own response to an unknown `Expect` header is not a problem document. CONNECT requests get no response.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  app.server.on("connect", ({ socket }) => {
    limits.countMalformed?.(addressOf({ ip: "", socket }));
    socket.destroy();
  });
  decorateForLog(app, recordAddresses);
  app.addHook("onRequest", (request, reply, done) => {
    admit(request, reply);
    if (request.raw.httpVersion === "1.1" && request.headers.host === undefined)
      throw invalidRequest("Send the header Host");
    if (!isExpectation(request.headers.expect)) throw invalidRequest("Send no header Expect");
    // Unknown paths and methods are rejected before their bodies are read.
    if (request.is404) {
      answerNotFound(request, reply);
      return;
    }
    if (request.method === "POST") checkBodyHeaders(request, reply);
    done();
  });
  app.setErrorHandler((error, request, reply) => {
    sendProblem(toServiceError(error, request.routeOptions.bodyLimit), request, reply);
  });
  const answerNotFound = (request: FastifyRequest, reply: FastifyReply): void => {
    const path = request.url.split("?", 1)[0] ?? "";
    const methods = (["GET", "POST"] as const).filter((method) => app.hasRoute({ method, url: path }));
    if (methods.length === 0) {
      const message = `There is no such operation.${seeAlso}`;
      sendProblem(new ServiceError(404, "OPERATION_UNKNOWN", message), request, reply);
    } else {
      reply.header("Allow", methods.join(", "));
      const message = `This path does not support the method ${request.method}. Use ${methods.join(" or ")}.`;
      sendProblem(new ServiceError(405, "METHOD_NOT_ALLOWED", message), request, reply);
    }
  };
  app.setNotFoundHandler(answerNotFound);
  closeConnectionsAtEnd(app);
  return app;
}

/** Closes each connection after its current response when the app stops. Open connections would delay `close`. */
function closeConnectionsAtEnd(app: App): void {
  app.addHook("preClose", (done) => {
    refuseReuse(app);
    done();
  });
  app.addHook("onSend", (_request, reply, _payload, done) => {
    if (ENDING.has(app)) reply.header("Connection", "close");
    done();
  });
}

/** The apps that close each connection after its next response. */
const ENDING = new WeakSet<App>();

/** Makes the app close each connection after its next response, so that clients open new ones. */
export function refuseReuse(app: App): void {
  ENDING.add(app);
}

/** @throws ServiceError CONTENT_TYPE for a body that is compressed or not JSON */
function checkBodyHeaders({ headers }: FastifyRequest, reply: FastifyReply): void {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity" && encoding !== "") {
    // RFC 9110, section 12.5.3.
    reply.header("Accept-Encoding", "identity");
    const message = `The service accepts no compressed bodies, but the Content-Encoding is not identity. Send the body without it.`;
    throw new ServiceError(415, "CONTENT_TYPE", message);
  }
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  const type = headers["content-type"];
  if ((hasBody || type !== undefined) && !isJson(type)) throw contentTypeError();
}

/**
 * Whether a content type is `application/json`. A charset is accepted only if it is UTF-8 (RFC 8259, section 8.1), with
 * or without the hyphen.
 */
function isJson(type: string | undefined): boolean {
  return /^application\/json(?: *; *charset="?utf-?8"?)? *$/i.test(type ?? "");
}

/** Whether the `Expect` header is absent, or has the only value that HTTP defines (RFC 9110, section 10.1.1). */
function isExpectation(expect: string | undefined): boolean {
  return expect === undefined || expect.toLowerCase() === "100-continue";
}

function invalidRequest(remedy: string): ServiceError {
  return new ServiceError(400, "FIELD_INVALID", `The HTTP request is invalid. ${remedy}.`);
}

/** A complete HTTP error response, for sockets without a parsed request. */
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

/** The value of `WWW-Authenticate` in a 401 response (RFC 6750, section 3). */
function challengeFor(code: string): string {
  return code === "ACCESS_TOKEN_MISSING" ? "Bearer" : 'Bearer error="invalid_token"';
}
