import { createServer } from "node:http";
import { listen } from "@keyroot/service/stack";

/** A partner's server that receives events and sometimes fails. */
export interface EventReceiver extends AsyncDisposable {
  readonly url: string;
  /** Number of acknowledgements of each event, by the event's id. */
  readonly acknowledged: ReadonlyMap<string, number>;
  /** The type and user of each event. */
  readonly contents: ReadonlyMap<string, string>;
  /** Number of requests that were answered with 500 or not at all. */
  readonly failures: number;
}

/** @param failureRate the share of requests that fail, from 0 to 1 */
export async function startEventReceiver(failureRate: number): Promise<EventReceiver> {
  const acknowledged = new Map<string, number>();
  const contents = new Map<string, string>();
  let failures = 0;
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (text: string) => (body += text));
    request.on("error", () => undefined);
    request.on("end", () => {
      if (Math.random() < failureRate) {
        failures++;
        if (Math.random() < 0.5) response.writeHead(500).end();
        else request.socket.destroy();
        return;
      }
      const id = String(request.headers["webhook-id"]);
      const { type, data } = JSON.parse(body) as { type: string; data: { user_id?: string } };
      acknowledged.set(id, (acknowledged.get(id) ?? 0) + 1);
      contents.set(id, `${type} ${data.user_id ?? ""}`);
      response.writeHead(204).end();
    });
  });
  const listening = await listen(server, { host: "127.0.0.1", port: 0 });
  return {
    url: `http://127.0.0.1:${listening.port}/events`,
    acknowledged,
    contents,
    get failures() {
      return failures;
    },
    [Symbol.asyncDispose]: () => listening.close(),
  };
}
