import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A process of the bench that answers each message with one message. */
export interface Child<Order, Answer> extends AsyncDisposable {
  ask(order: Order): Promise<Answer>;
}

/** Starts a script beside this one. It ends when it is disposed of, and with this process. */
export function startChild<Order extends object, Answer>(script: string): Child<Order, Answer> {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), {
    env: { ...process.env, NODE_ENV: "production" },
  });
  const ended = once(child, "exit");
  return {
    async ask(order) {
      child.send(order);
      return Promise.race([answerOf<Answer>(child), ended.then(() => Promise.reject(new Error(`${script} ended.`)))]);
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
    },
  };
}

async function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  const [answer] = (await once(child, "message")) as [Answer];
  return answer;
}

/** In a child: takes the first order, and answers every later message with what this process has spent, in µs. */
export async function firstOrder<Order>(): Promise<Order> {
  const [order] = (await once(process, "message")) as [Order];
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
  process.once("disconnect", () => process.exit());
  return order;
}
