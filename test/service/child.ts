import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A process of this project's own that answers each message with one message. */
export interface Child<Order, Answer> extends AsyncDisposable {
  /** @throws Error when the process ends first */
  ask(order: Order): Promise<Answer>;
  /** Kills it by SIGKILL, in the middle of whatever it does. */
  kill(): Promise<void>;
}

/** Starts a script, with more environment. It ends when it is disposed of, and with this process. */
export function startChild<Order extends object, Answer>(
  script: URL,
  environment: NodeJS.ProcessEnv = {},
): Child<Order, Answer> {
  const path = fileURLToPath(script);
  const child = fork(path, { env: { ...process.env, NODE_ENV: "production", ...environment } });
  const ended = once(child, "exit");
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
  return {
    async ask(order) {
      child.send(order);
      const early = ended.then(() => Promise.reject(new Error(`${path} ended without an answer.`)));
      return Promise.race([answerOf<Answer>(child), early]);
    },
    kill: () => end("SIGKILL"),
    [Symbol.asyncDispose]: () => end("SIGTERM"),
  };
}

async function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  const [answer] = (await once(child, "message")) as [Answer];
  return answer;
}

/** In a child: takes the first order, and answers every later message with the processor time spent so far, in µs. */
export async function firstOrder<Order>(): Promise<Order> {
  const [order] = (await once(process, "message")) as [Order];
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
  process.once("disconnect", () => process.exit());
  return order;
}
