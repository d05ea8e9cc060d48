import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "../../../packages/operator/src/http/listen.ts";
import { ENDLESS_MS } from "../endless.ts";

/** A delivery as it arrived. */
export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

/** A partner's server that receives webhooks. */
export interface WebhookReceiver {
  readonly url: string;
  readonly received: Received[];
  /** Responds to the next deliveries. Default: status 204. */
  respond: (response: ServerResponse, delivery: Received) => void;
  /** The ids of the received events, in order. */
  ids(): string[];
  /** Waits until this many deliveries have arrived. */
  until(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const delivery = { headers: request.headers, body: Buffer.concat(chunks).toString() };
      received.push(delivery);
      receiver.respond(response, delivery);
    });
  });
  const listening = await listen(server, { host: "127.0.0.1", port: 0 });
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${listening.port}/hook`,
    received,
    respond: (response) => {
      response.writeHead(204).end();
    },
    ids: () => received.map(({ headers }) => String(headers["webhook-id"])),
    async until(count) {
      for (const end = Date.now() + ENDLESS_MS; received.length < count;) {
        await sleep(5);
        if (Date.now() > end) throw new Error(`${received.length} instead of ${count} deliveries arrived.`);
      }
    },
    close: () => listening.close(),
  };
  return receiver;
}
