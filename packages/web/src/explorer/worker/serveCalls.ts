import { KeyrootError, VerificationError } from "keyroot/internal/errors";
import type { CallName, Failure, FromWorker, Progress, ToWorker, WorkerCalls } from "./messages.ts";

/** Handles a call from the page. `report` sends progress. `signal` aborts if the page cancels the call. */
export type Handler<Name extends CallName> = (
  args: WorkerCalls[Name]["arguments"],
  report: (progress: Progress) => void,
  signal: AbortSignal,
) => Promise<WorkerCalls[Name]["result"]>;

export type Handlers = { readonly [Name in CallName]?: Handler<Name> };

export function serveCalls(handlers: Handlers): void {
  const running = new Map<number, AbortController>();
  const send = (message: FromWorker) => {
    postMessage(message);
  };
  addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
    const { id } = data;
    if ("abort" in data) {
      running.get(id)?.abort();
      return;
    }
    const controller = new AbortController();
    running.set(id, controller);
    const handler = handlers[data.name] as Handler<CallName>;
    const report = (progress: Progress) => {
      send({ id, progress });
    };
    handler(data.arguments as never, report, controller.signal)
      .then(
        (result) => {
          send({ id, result });
        },
        (error: unknown) => {
          send({ id, defect: String(error) });
        },
      )
      .finally(() => running.delete(id));
  });
}

/** Converts a Keyroot error to a message. @throws every other error, because other errors are unexpected */
export function toFailure(error: unknown): Failure {
  if (!(error instanceof KeyrootError)) throw error;
  const { step, evidence } = error instanceof VerificationError ? error : {};
  const { name, code, advice, message, expected, actual } = error;
  return { name, code, advice, message, step, evidence, expected: simple(expected), actual: simple(actual) };
}

function simple(value: unknown): string | number | undefined {
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}
