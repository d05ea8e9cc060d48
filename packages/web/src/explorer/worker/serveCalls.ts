import type { CallName, FromWorker, Progress, ToWorker, WorkerCalls } from "../messages.ts";

/** Answers a call. `report` sends progress; `signal` aborts when the page is no longer interested. */
export type Handler<Name extends CallName> = (
  args: WorkerCalls[Name]["arguments"],
  report: (progress: Progress) => void,
  signal: AbortSignal,
) => Promise<WorkerCalls[Name]["result"]>;

export type Handlers = { readonly [Name in CallName]?: Handler<Name> };

/** Answers the page's calls with these handlers. */
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
