import { request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { serve } from "./servers.ts";

/** A request that the proxy received. */
interface SeenRequest {
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/**
 * A fault of a request: the proxy responds itself, sends no response, or breaks the connection. It breaks the
 * connection either before the service receives the request or after the service has handled it.
 */
type Fault =
  { status: number; headers?: Record<string, string>; body?: string } | "reset before" | "reset after" | "silence";

/** A proxy between client and service. Preflight requests of browsers (CORS) pass and are not recorded. */
export interface FaultyProxy {
  readonly url: string;
  /** All requests in their order. */
  readonly seen: readonly SeenRequest[];
  /** The requests to a path with this ending. */
  to(path: string): SeenRequest[];
  /** Sets the faults of the next requests to a path with this ending, in their order. */
  fail(path: string, ...faults: Fault[]): void;
  /** Sets a function that decides about every request. The request waits for its promise. */
  disturb(decide: (request: SeenRequest) => Fault | undefined | Promise<Fault | undefined>): void;
  close(): Promise<void>;
}

export async function faultyProxy(upstream: string): Promise<FaultyProxy> {
  const seen: SeenRequest[] = [];
  const planned: { path: string; fault: Fault }[] = [];
  let disturb: Parameters<FaultyProxy["disturb"]>[0] = () => undefined;

  const faultOf = async (request: SeenRequest) => {
    seen.push(request);
    const next = planned.findIndex(({ path }) => request.path.endsWith(path));
    return next === -1 ? disturb(request) : planned.splice(next, 1)[0]?.fault;
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { url: path = "", headers } = request;
    const one = { path, headers, body: (await buffer(request)).toString() };
    const fault = request.method === "OPTIONS" ? undefined : await faultOf(one);
    if (fault === "silence") return;
    if (fault === "reset before") {
      request.socket.destroy();
    } else if (typeof fault === "object") {
      response.writeHead(fault.status, fault.headers).end(fault.body);
    } else {
      const answer = await send(upstream, request.method, one);
      if (fault === "reset after") request.socket.destroy();
      else response.writeHead(answer.status, answer.headers).end(answer.body);
    }
  };

  const listening = await serve((request, response) => {
    handle(request, response).catch(() => request.socket.destroy());
  });
  return {
    url: listening.url,
    seen,
    to: (path) => seen.filter((request) => request.path.endsWith(path)),
    fail: (path, ...faults) => planned.push(...faults.map((fault) => ({ path, fault }))),
    disturb: (decide) => {
      disturb = decide;
    },
    close: () => listening.close(),
  };
}

function send(upstream: string, method: string | undefined, { path, headers, body }: SeenRequest) {
  return new Promise<{ status: number; headers: IncomingMessage["headers"]; body: Buffer }>((resolve, reject) => {
    const request = forward(upstream + path, { method, headers }, (answer) => {
      buffer(answer).then((body) => {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body });
      }, reject);
    });
    request.on("error", reject).end(body);
  });
}
