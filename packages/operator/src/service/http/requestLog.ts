import { type FastifyReply, type FastifyRequest, LogController } from "fastify";
import type { Principal } from "../tokens/accessTokens.ts";
import type { App } from "./defineOperation.ts";

/** Who sent a request: the ids that the log names, and no token. */
type Actor =
  | { kind: "operator" }
  | { kind: "person"; partner: string; person: string; name: string }
  | { kind: "partner"; partner: string; token: string }
  | { kind: "user"; partner: string; user: string; token: string };

/** A change of stored data, and the ids of what was changed. */
interface Change {
  action:
    | "partner.created"
    | "partner.suspended"
    | "partner.resumed"
    | "partner.limited"
    | "serverToken.created"
    | "serverToken.revoked"
    | "user.created"
    | "user.deactivated"
    | "user.erased"
    | "refreshToken.created"
    | "refreshToken.revoked"
    | "key.registered"
    | "key.withdrawn"
    | "key.discarded"
    | "key.approved"
    | "keys.published"
    | "person.invited"
    | "person.roleChanged"
    | "person.removed"
    | "passkey.added"
    | "passkey.removed"
    | "session.started"
    | "session.ended";
  /** A `biz_id`. */
  partner?: string;
  /** The id of a person of the partner's staff. */
  person?: string;
  /** A `user_id`. */
  user?: string;
  /** The id of a refresh token, not its value. */
  token?: string;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Null while the caller is unknown. */
    actor: Actor | null;
    /** What the request changed; null for nothing. */
    change: Change | null;
    /** The code of the error with which the request was rejected. */
    errorCode: string | null;
  }
}

/** Adds to requests what the log says about them. */
export function decorateForLog(app: App): void {
  app.decorateRequest("actor", null);
  app.decorateRequest("change", null);
  app.decorateRequest("errorCode", null);
}

/** The ids of a principal, for the log. */
export function actorOf(principal: Principal): Actor {
  const { kind, bizID: partner, tokenID: token } = principal;
  return kind === "partner" ? { kind, partner, token } : { kind, partner, user: principal.userID, token };
}

/**
 * Logs one line per request, when it is complete: with the caller, and with what was changed. A request that is over a rate
 * limit is logged at the level `debug` only, so that a flood does not fill the log.
 */
export class RequestLog extends LogController {
  override incomingRequest(): void {
    // Everything is in the line of the completed request.
  }

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const { errorCode: code, actor, change } = request;
    const line = {
      req: request,
      res: reply,
      responseTime: reply.elapsedTime,
      ...(code !== null && { code }),
      ...(actor !== null && { actor }),
      ...(change !== null && { change }),
    };
    if (error) request.log.error({ ...line, err: error }, "request failed");
    else if (code === "RATE_LIMITED") request.log.debug(line, "request rejected");
    else request.log.info(line, code === null ? "request completed" : "request rejected");
  }
}
