import { startReceiver } from "../../../support/service/webhookReceiver.ts";

/** A partner's server that receives events and sometimes fails. */
export interface EventReceiver extends AsyncDisposable {
  readonly url: string;
  /** Number of acknowledgements of each event, by its id. */
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
  const receiver = await startReceiver();
  receiver.respond = (response, { headers, body }) => {
    receiver.received.splice(0);
    if (Math.random() < failureRate) {
      failures++;
      if (Math.random() < 0.5) response.writeHead(500).end();
      else response.destroy();
      return;
    }
    const id = String(headers["webhook-id"]);
    const { type, data } = JSON.parse(body) as { type: string; data: { user_id?: string } };
    acknowledged.set(id, (acknowledged.get(id) ?? 0) + 1);
    contents.set(id, `${type} ${data.user_id ?? ""}`);
    response.writeHead(204).end();
  };
  return {
    url: receiver.url,
    acknowledged,
    contents,
    get failures() {
      return failures;
    },
    [Symbol.asyncDispose]: () => receiver.close(),
  };
}
