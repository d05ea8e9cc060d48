import { randomUUID } from "node:crypto";
import { describeValue } from "keyroot/internal/input";
import { checkUrl, fetchBytes, isLoopback } from "keyroot/internal/transport";
import { argumentInvalid, TransportError } from "../errors.ts";
import { withRetry } from "../http/retry.ts";
import type { WebhookSecret } from "../http/webhookSecret.ts";

const MAX_ANSWER_BYTES = 2 ** 16;
const TIMEOUT_MS = 10_000;
/** The retries of a message that was not delivered. It is sent again after about 1 s, and once more after about 2 s. */
const RETRY = { retries: 2, initialDelayMs: 500 };

/**
 * Checks that alarms may be sent to a URL, and returns the URL. It must use https, or http on this machine, and its
 * host must be one of `hosts`. The URL usually contains a secret, so errors do not contain it.
 * @param hosts host names, including the port if it is not the default port
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkWebhook(url: string, hosts: readonly string[]): string {
  const { protocol, hostname, host } = new URL(checkUrl("webhook", url));
  if (protocol !== "https:" && !isLoopback(hostname))
    throw argumentInvalid("The URL of the webhook must begin with https.");
  if (hosts.includes(host)) return url;
  const message = `The host ${describeValue(host)} of the webhook is not allowed. Allow it with --alarm-host.`;
  throw argumentInvalid(message, { expected: hosts, actual: host });
}

/**
 * Sends a message to a webhook as JSON, with the headers of Standard Webhooks (standardwebhooks.com): `webhook-id`,
 * `webhook-timestamp` and, if there is a secret, `webhook-signature`. Redirects are not followed. After a failure, the
 * message is sent up to twice more, with the same id.
 * @param message an object with a `type`
 * @throws TransportError WEBHOOK_ERROR if the status is not 2xx; and the errors of `fetchBytes`
 */
export async function postWebhook(
  url: string,
  message: object,
  { secret, now = Date.now }: { secret?: WebhookSecret | undefined; now?: () => number } = {},
): Promise<void> {
  const id = `msg_${randomUUID()}`;
  const body = JSON.stringify(message);
  const { host } = new URL(url);
  await withRetry(async () => {
    const timestamp = Math.floor(now() / 1000);
    const headers = {
      "Content-Type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      ...(secret && { "webhook-signature": secret.sign(id, timestamp, body) }),
    };
    const init = { method: "POST", headers, body };
    const { status } = await fetchBytes(url, init, { maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS });
    if (status >= 200 && status < 300) return;
    throw new TransportError("WEBHOOK_ERROR", `The webhook on ${host} returned the HTTP status ${status}.`, {
      actual: status,
    });
  }, RETRY);
}
