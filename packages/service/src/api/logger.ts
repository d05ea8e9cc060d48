import { isIP } from "node:net";
import { type DestinationStream, type Logger, pino, stdSerializers } from "pino";

interface LoggedRequest {
  method: string;
  url: string;
  ip: string;
  socket: { remoteAddress?: string | undefined };
  /** `url` is the path of the operation, or undefined if no operation matches. */
  routeOptions?: { url?: string | undefined };
}

/** Creates a log, which has one JSON object per line and contains no secrets. Default destination: standard error. */
export function makeLogger(level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: {
        // The log omits headers, bodies and query strings, because they may contain tokens.
        req: ({ method, url, ip, socket, routeOptions }: LoggedRequest) => ({
          method,
          path: routeOptions?.url ?? redactPath(url),
          // A proxy may forward any text as the address, even a token.
          ip: isIP(ip) === 0 ? socket.remoteAddress : ip,
        }),
        res: ({ statusCode }: { statusCode: number }) => ({ status: statusCode }),
        err: (error: Error) => withoutPaths(stdSerializers.err(withoutParameters(error))),
      },
    },
    destination ?? pino.destination({ dest: 2, sync: false }),
  );
}

/**
 * Removes all parts that may contain a token from the path of an unknown operation. It keeps a segment of letters, dots
 * and hyphens if it has up to 24 characters, and any other segment if it has up to 8.
 */
function redactPath(url: string): string {
  const [path = ""] = url.split("?", 1);
  const segments = path.slice(0, 200).split("/");
  return segments.map((segment) => (/^(?:[A-Za-z.-]{0,24}|.{0,8})$/.test(segment) ? segment : "<redacted>")).join("/");
}

const URLS = /\b(?!file:)([a-z][a-z0-9+.-]{1,20}):\/\/(?:[^\s"'<>/?#]*@)?([^\s"'<>/?#@]+)([/?#][^\s"'<>]*)?/gi;

/**
 * Replaces the URLs of endpoints, databases and stores with their hosts, because the other parts of a URL may contain
 * secrets.
 */
function withoutPaths<Value>(value: Value): Value {
  if (typeof value === "string") return value.replace(URLS, hostOnly) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => withoutPaths(item)) as Value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withoutPaths(field)])) as Value;
}

function hostOnly(_url: string, scheme: string, host: string, rest = "/"): string {
  return `${scheme}://${host}${rest === "/" ? "" : "/<redacted>"}`;
}

/** Removes parameter values from the error of a failed query. The statement and the cause are kept. */
function withoutParameters(error: Error): Error {
  const { cause } = error;
  // An `instanceof` check would fail if both module formats of drizzle-orm were loaded.
  if ("query" in error && "params" in error) return new Error(`A query failed: ${String(error.query)}`, { cause });
  if (!(cause instanceof Error)) return error;
  return Object.assign(new Error(error.message, { cause: withoutParameters(cause) }), { stack: error.stack });
}
