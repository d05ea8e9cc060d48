import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { ENDLESS_MS } from "../endless.ts";
import { serve } from "../servers/servers.ts";

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
  const listening = await serve((request, response) => {
    const arrive = (body: string) => {
      const delivery = { headers: request.headers, body };
      received.push(delivery);
      receiver.respond(response, delivery);
    };
    // A sender that is killed leaves an incomplete delivery.
    text(request).then(arrive, () => undefined);
  });
  const receiver: WebhookReceiver = {
    url: `${listening.url}/hook`,
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
