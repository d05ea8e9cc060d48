import { describeValue } from "keyroot/input";
import { ArgumentError, TransportError } from "keyroot/errors";
import { checkUrl, fetchBytes } from "keyroot/transport";

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
const MAX_ANSWER_BYTES = 2 ** 16;
const TIMEOUT_MS = 10_000;

/**
 * Checks that alarms may be sent to an address, and returns it. It must be https, or http on this machine, and its host
 * must be in the list. Errors do not show the address, because it usually contains a secret.
 * @param hosts host names, each with its port unless that is the default one
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkWebhook(url: string, hosts: readonly string[]): string {
  const { protocol, hostname, host } = new URL(checkUrl("webhook", url));
  if (protocol !== "https:" && !LOOPBACK.test(hostname)) {
    throw new ArgumentError("ARGUMENT_INVALID", "The option webhook must be an https address.");
  }
  if (hosts.includes(host)) return url;
  const message = `The host ${describeValue(host)} of the webhook is not allowed: name it with --webhook-host.`;
  throw new ArgumentError("ARGUMENT_INVALID", message, { expected: hosts, actual: host });
}

/**
 * Sends a message to a webhook as JSON. Follows no redirect.
 * @throws TransportError WEBHOOK_ERROR if its status is not 2xx; and as `fetchBytes`
 */
export async function postWebhook(url: string, message: object): Promise<void> {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(message) };
  const { status } = await fetchBytes(url, init, { maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS });
  if (status >= 200 && status < 300) return;
  const { host } = new URL(url);
  throw new TransportError("WEBHOOK_ERROR", `The webhook on ${host} returned the HTTP status ${status}.`, {
    actual: status,
  });
}
