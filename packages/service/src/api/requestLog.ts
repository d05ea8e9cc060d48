import { type FastifyReply, type FastifyRequest, LogController } from "fastify";
import type { Actor, Author, LoggedChange } from "./base/author.ts";
import { ipOf } from "./limits/addressOf.ts";
import type { App } from "./defineOperation.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Whether the audit log records callers' IP addresses. */
    recordAddresses: boolean;
  }
  interface FastifyRequest {
    /** The request's caller. Null while the caller is unknown. */
    actor: Actor | null;
    /** The first change that the request made. Null if the request made no change. */
    change: LoggedChange | null;
    changes: number;
    /** The error code of a rejected or failed request. Null for other requests. */
    errorCode: string | null;
  }
}

/** Adds the properties that the log line of a request contains. */
export function decorateForLog(app: App, recordAddresses: boolean): void {
  app.decorate("recordAddresses", recordAddresses);
  app.decorateRequest("actor", null);
  app.decorateRequest("change", null);
  app.decorateRequest("changes", 0);
  app.decorateRequest("errorCode", null);
}

/** The properties of a request's author that are known before the caller is identified. */
export function requestOf(request: FastifyRequest): Omit<Author, "actor"> {
  return {
    requestID: request.id,
    address: request.server.recordAddresses ? ipOf(request) : null,
    onChange: (change) => {
      request.change ??= change;
      request.changes++;
    },
  };
}

export function authorOf(request: FastifyRequest): Author {
  if (request.actor === null) throw new Error("An operation changed something before its request was authenticated.");
  return { actor: request.actor, ...requestOf(request) };
}

/** The log omits values that are undefined. */
function toLog({ action, partner, person, user, token }: LoggedChange) {
  return { action, partner: partner ?? undefined, person, user, token };
}

/**
 * Logs one line per completed request, with its caller and its change. Requests over a rate limit are logged only at
 * the `debug` level. Otherwise a flood of requests would fill the log.
 */
export class RequestLog extends LogController {
  constructor() {
    super({ requestIdLogLabel: "request_id" });
  }

  override incomingRequest(): void {
    // The line for the completed request contains the same information.
  }

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const { errorCode: code, actor, change, changes } = request;
    // The changes of a failed request were rolled back or are in the audit log.
    const isDone = change !== null && reply.statusCode < 500;
    const line = {
      req: request,
      res: reply,
      responseTime: reply.elapsedTime,
      ...(code !== null && { code }),
      ...(actor !== null && { actor }),
      ...(isDone && { change: toLog(change), ...(changes > 1 && { changes }) }),
    };
    if (error) request.log.error({ ...line, err: error }, "request failed");
    else if (code === "RATE_LIMITED") request.log.debug(line, "request rejected");
    else request.log.info(line, code === null ? "request completed" : "request rejected");
  }
}
