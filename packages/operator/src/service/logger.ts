import { DrizzleQueryError } from "drizzle-orm";
import { type Logger, pino, stdSerializers } from "pino";

/** The service's log: one JSON object per line on standard error, with request ids and without secrets. */
export function makeLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: {
        // Headers, bodies and query strings may contain tokens, so they are not logged.
        req: ({ method, url, ip }: { method: string; url: string; ip: string }) => ({
          method,
          path: url.split("?", 1)[0]?.slice(0, 200),
          ip,
        }),
        res: ({ statusCode }: { statusCode: number }) => ({ status: statusCode }),
        err: (error: Error) => stdSerializers.err(withoutParameters(error)),
      },
    },
    pino.destination({ dest: 2, sync: false }),
  );
}

/** The error of a failed query contains the values of its parameters: keep its statement and its cause only. */
function withoutParameters(error: Error): Error {
  const { cause } = error;
  if (error instanceof DrizzleQueryError) return new Error(`A query failed: ${error.query}`, { cause: error.cause });
  if (!(cause instanceof Error)) return error;
  return Object.assign(new Error(error.message, { cause: withoutParameters(cause) }), { stack: error.stack });
}
